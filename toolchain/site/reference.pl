#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Writes the site's reference in Markdown: of the public headers a page each and one for each interface, as the manual
# pages of section 3 have it (docs/man/pages.pl); of programs and systems their manual pages, by mandoc.
# usage: reference.pl ROOT FOLDER     writes FOLDER/reference and FOLDER/programs
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../../docs/man";
use Public qw(public_pages);

my ($root, $folder) = @ARGV;
my %page; # by name

sub write_file {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print $out $text;
    close $out or die "$path: $!\n";
}

sub label { return 'ref-' . lc($_[0]) =~ s/[^a-z0-9]+/-/gr; }

sub link_to {
    my ($name) = @_;
    return $page{$name} ? "[$name](" . label($name) . ')' : $name;
}

# Text with its names as links.
sub inline {
    my ($text, $own) = @_;
    $text =~ s/([\\*<>\[\]`|])/\\$1/g;
    $text =~ s/\\<\\<([\w:.]+)\(\d\)\\>\\>/link_to($1)/ge;
    $text =~ s/(?<![\w\[:.(-])((?:IND|ND|Nd|srd_|Win|Dll)\w+(?:::\w+)?)(?![\w\](-])/$1 eq $own ? $1 : link_to($1)/ge;
    return $text =~ s/(?<!\w)_/\\_/gr;
}

sub block {
    my ($own, $kind, @rest) = @_;
    return "```c\n$rest[0]\n```\n" if $kind eq 'code';
    return inline($rest[0], $own) . "\n" if $kind eq 'p';
    return join '', map {
        my ($tag, $text) = @$_;
        my $head = $tag =~ /^<</ ? inline($tag, $own) : $tag eq '' ? '' : join ', ', map { "`$_`" } split /, /, $tag;
        '- ' . join(': ', grep { $_ ne '' } $head, inline($text, $own)) . "\n";
    } @rest;
}

sub declaration {
    my ($kind, @rest) = @{ $_[0] };
    return "$rest[0]\n" if $kind eq 'code';
    my ($result, $name, $parameters) = @rest;
    my $open = "$result" . ($result =~ /\*$/ ? '' : ' ') . "$name(";
    my $text = $open . join(', ', @$parameters) . ');';
    $text = $open . "\n    " . join(",\n    ", @$parameters) . ');' if length $text > 90;
    return "$text\n";
}

# A page as a part of another (depth 2) or as one of its own (1).
sub entry {
    my ($page, $depth) = @_;
    my $name = $page->{name};
    my $out = '(' . label($name) . ")=\n" . '#' x $depth . " $name\n\n";
    $out .= "```{index} single: $name\n```\n\n";
    $out .= "`#include <$page->{file}>`\n\n" if $depth == 1;
    $out .= "```c++\n" . join("\n", map { declaration($_) } @{ $page->{synopsis} }) . "```\n\n"
        if @{ $page->{synopsis} } && $page->{kind} ne 'interface';
    for my $part (@{ $page->{parts} }) {
        my ($title, @blocks) = @$part;
        next if $title =~ /^(?:METHODS|INTERFACES|FUNCTIONS|STRUCTURES|CALLBACKS)$/; # they follow
        $out .= '**' . ucfirst(lc $title) . "**\n\n" unless $title eq 'DESCRIPTION';
        $out .= block($name, @$_) . "\n" for @blocks;
    }
    return $out;
}

sub listed {
    my ($page) = @_;
    return '- ' . link_to($page->{name}) . ': ' . inline(ucfirst $page->{brief}, $page->{name}) . ".\n";
}

sub write_reference {
    my @pages = sort { $a->{order} <=> $b->{order} } @_;
    $page{ $_->{name} } = $_ for @pages;
    my %text = map { $_->{name} => entry($_, 1) } grep { $_->{kind} =~ /^(?:interface|header)$/ } @pages;
    for my $page (@pages) {
        my ($name, $kind) = @$page{qw(name kind)};
        if ($kind eq 'interface') {
            $text{ $page->{group} } .= listed($page);
            $text{$name} .= entry($page{$_}, 2) for @{ $page->{methods} };
        } elsif ($kind ne 'header' && $kind ne 'method') {
            $text{ $page->{group} } .= entry($page, 2);
        }
    }
    write_file("$folder/reference/$_.md", $text{$_}) for keys %text;
    my @headers = grep { $_->{kind} eq 'header' } @pages;
    my $list = join '', map { listed($_) } @headers;
    my $order = join '', map { "$_->{name}\n" } @headers, grep { $_->{kind} eq 'interface' } @pages;
    write_file("$folder/reference/index.md",
        "# Headers and interfaces\n\n$list\n```{toctree}\n:hidden:\n$order```\n");
}

sub write_program {
    my ($path) = @_;
    my ($name, $section) = $path =~ m{([^/]+)\.(\d)$} or die "$path\n";
    open my $in, '-|', 'mandoc', '-Tmarkdown', $path or die "mandoc: $!\n";
    my $text = do { local $/; <$in> };
    close $in or die "mandoc: $path\n";
    $text =~ s/\A[^\n]*\n\n//;         # the first line has its name
    $text =~ s/\n[^\n]*\n\z/\n/;       # the last one has the date
    $text =~ s/^(#+ )(.*)/"#$1" . ucfirst lc $2/gme;
    write_file("$folder/programs/$name.md", "# $name($section)\n\n```{index} single: $name\n```\n\n$text");
}

mkdir "$folder/$_" for qw(reference programs);
write_reference(public_pages($root));
my @folders = map { "$root/$_" } qw(docs/man ndspi tools wine ndk samples softrdma);
write_program($_) for map { chomp; $_ } `find @folders -name '*.[17]'`;
