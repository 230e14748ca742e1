#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# constants.pl - by which functions the constants of the headers are taken, refused and told, for docs/windows-names.md.
# usage: constants.pl LIST TEST... > ABOUT
# LIST is names.sh list's; TEST are sources with tables of tests/unit/winobj/constants.h or flags.h. A line of ABOUT:
# the constant, a tabulator, what it is. Status 1 if a constant has no row, or a row no constant, with lines on stderr.
# Needs perl-base only; CC is the compiler.
use strict;
use warnings;

my ($list, @tests) = @ARGV;
my (%constant, %spelling, %takes, %tells, %refuses, %is, $bad);

sub contents {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!\n";
    local $/;
    return <$in>;
}

sub complain {
    print STDERR "$_[0]\n";
    $bad = 1;
}

# A source with its own macros expanded and those of headers left alone.
sub expanded {
    my ($file) = @_;
    my $compiler = $ENV{CC} // 'gcc';
    return `sed -E '/^#include/d; /^#define +[A-Z_]+ +[0-9]/d' '$file' | $compiler -E -P -xc -` || die "$file: $!\n";
}

# `CreateFile` (access), of the "CreateFile, access" of a row.
sub function {
    my ($name, $parameter) = split /, /, $_[0], 2;
    return "`$name`" . (defined $parameter ? " ($parameter)" : '');
}

sub read_tables {
    my ($file) = @_;
    my $text = expanded($file);
    $text =~ s/\s+/ /g;
    while ($text =~ /\b(TAKES|TELLS|REFUSES)\( ?"([^"]+)", ([^()]+?) ?\)/g) {
        my ($how, $function, @words) = ($1, function($2), split / ?, ?/, $3);
        my $code = $how eq 'REFUSES' ? shift @words : '';
        $code =~ s/^SPEC_//;
        shift @words; # the function of the test
        for my $name (@words) {
            complain("$file: $name is no constant of the headers") unless $constant{$name} || $spelling{$name};
            my $of = $how eq 'TAKES' ? \%takes : $how eq 'TELLS' ? \%tells : \%refuses;
            $of->{$name}{$function} = $code;
        }
    }
    my ($rows) = $text =~ /struct function functions\[\] = \{ (.*?) \};/ or return;
    while ($rows =~ /\{ "([^"]+)", .*?\b(?:true|false), (.*?) \}/g) {
        my ($function, $names) = (function($1), $2);
        $takes{$_}{$function} = '' for $names =~ /\b[A-Z]\w+/g;
    }
}

# Of constants.txt: what they are, where no table has them.
sub read_list {
    my %uses = map { $_ => { map { $_ => 1 } contents($_) =~ /\w+/g } } split /\n/,
        `find tests/unit/compat tests/unit/winobj tests/unit/win32 -name '*.c' -o -name '*.cpp'`;
    for my $row (grep { !/^#|^\s*$/ } split /\n/, contents('compat/constants.txt')) {
        my ($names, $what, $functions) = split /\s*\|\s*/, $row;
        $functions //= '';
        my $untested = $functions =~ s/[()]//g;
        my @functions = split ' ', $functions;
        $what .= ' ' . join ', ', map { "`$_`" } @functions if @functions && $what !~ /`/;
        for my $pattern (split ' ', $names) {
            (my $like = quotemeta $pattern) =~ s/\\\*/.*/g;
            my @named = grep { /^$like$/ && !$is{$_} && !about($_) } sort keys %constant;
            complain("compat/constants.txt: $pattern is nothing, or in a table, too") unless @named;
            for my $name (@named) {
                $is{$name} = $what;
                next if $untested || !@functions;
                complain("$name: no test that calls @functions has it")
                    unless grep { my $words = $_; $words->{$name} && grep { $words->{$_} } @functions } values %uses;
            }
        }
    }
}

# What the tables say of a constant.
sub about {
    my ($name) = @_;
    my @parts;
    push @parts, 'of ' . join ', ', sort keys %{$takes{$name}} if $takes{$name};
    push @parts, 'told by ' . join ', ', sort keys %{$tells{$name}} if $tells{$name};
    my %refuses = %{$refuses{$name} // {}};
    push @parts, 'refused by ' . join ', ', map { "$_ with $refuses{$_}" } sort keys %refuses if %refuses;
    return join '; ', @parts;
}

for (split /\n/, contents($list)) {
    my (undef, $kind, $name) = split;
    $constant{$name} = 1 if $kind eq 'constant';
    $spelling{$name} = 1 if $kind eq 'spelling';
}
read_tables($_) for @tests;
read_list();
for my $name (sort keys %constant) {
    my $what = about($name) || $is{$name};
    complain("$name: neither in a table of the tests nor in compat/constants.txt") unless $what;
    print "$name\t", $what // '', "\n";
}
exit($bad ? 1 : 0);
