#!/usr/bin/env perl
# SPDX-License-Identifier: MIT
# usage: json.pl PATH=VALUE... < FILE
# The file has to be one JSON object that has these values: of "results.0.bytes" the number or text VALUE, "+" for any
# number above 0, "[N]" for an array of N values, "true" or "false". "sum(PATH.*.KEY)=N": of all elements of an array.
use strict;
use warnings;
use JSON::PP;

local $/;
my $json = JSON::PP->new->decode(scalar <STDIN>);
my $bad = 0;

sub find
{
    my ($value, @keys) = @_;
    for my $key (@keys) {
        $value = ref $value eq 'ARRAY' ? $value->[$key] : ref $value eq 'HASH' ? $value->{$key} : undef;
    }
    return $value;
}

sub fits
{
    my ($value, $wanted) = @_;
    return 0 unless defined $value;
    return ref $value eq 'ARRAY' && @$value == $1 if $wanted =~ /^\[(\d+)\]$/;
    return $value && JSON::PP::is_bool($value) if $wanted eq 'true';
    return !$value && JSON::PP::is_bool($value) if $wanted eq 'false';
    return !ref $value && $value > 0 if $wanted eq '+';
    return !ref $value && $value eq $wanted;
}

for (@ARGV) {
    my ($path, $wanted) = /^(.*)=(.*)$/ or die "not PATH=VALUE: $_\n";
    my $value;
    if ($path =~ /^sum\((.*)\.\*\.(.*)\)$/) {
        my $key = $2;
        $value = 0;
        $value += $_->{$key} for @{ find($json, split /\./, $1) };
    } else {
        $value = find($json, split /\./, $path);
    }
    next if fits($value, $wanted);
    print "$path is ", $value // 'nothing', ", not $wanted\n";
    $bad = 1;
}
exit $bad;
