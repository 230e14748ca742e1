# SPDX-License-Identifier: MIT
# Writes a page (Pages.pm) in mdoc, the language of manual pages.
#
#   mdoc(PAGE, DATE, VERSION)    its text
package Mdoc;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(mdoc);

sub escaped {
    my ($text) = @_;
    $text =~ s/\\/\\e/g;
    $text =~ s/-/\\-/g if $text =~ /^-/;
    $text =~ s/^([.'])/\\&$1/;
    return $text;
}

# Text with <<name(3)>> as references of their own lines; each sentence begins a line.
sub prose {
    my ($text) = @_;
    my @lines;
    for my $sentence (split /(?<=[a-z0-9_)A-Z"][.]) (?=[A-Z0-9"<])/, $text) {
        my @parts = split /<<([\w:.]+)\((\d)\)>>(\S*) ?/, $sentence;
        while (@parts) {
            my $words = shift @parts;
            push @lines, escaped($words =~ s/ $//r) if $words =~ /\S/;
            next unless @parts;
            my ($name, $section, $behind) = splice @parts, 0, 3;
            push @lines, ".Xr $name $section" . ($behind ne '' ? ' ' . join ' ', split //, $behind : '');
        }
    }
    return join("\n", @lines) . "\n";
}

sub tag {
    my ($tag) = @_;
    return '.It o' if $tag eq '';
    return ".It Xr $1 $2" if $tag =~ /^<<([\w:.]+)\((\d)\)>>$/;
    return qq(.It Vt "$tag") unless $tag =~ /^[-\w]+(?:, \w+)*$/;
    my @words = map { (/^(?:[A-Z0-9_]+|0x[0-9A-F]+|-1)$/ ? 'Er ' : 'Fa ') . escaped($_) } split /, /, $tag;
    return '.It ' . join ' , ', @words;
}

sub block {
    my ($kind, @rest) = @{ $_[0] };
    return ".Bd -literal\n" . ($rest[0] =~ s/\\/\\e/gr =~ s/^([.'])/\\&$1/gmr) . "\n.Ed\n" if $kind eq 'code';
    return prose($rest[0]) if $kind eq 'p';
    my @rows = map { tag($_->[0]) . "\n" . ($_->[1] eq '' ? '' : prose($_->[1])) } @rest;
    return ".Bl -tag -width Ds\n" . join('', @rows) . ".El\n";
}

sub blocks {
    my @blocks = @_;
    my ($out, $before) = ('', '');
    for my $block (@blocks) {
        $out .= ".Pp\n" if $block->[0] eq 'p' && $before ne '';
        $out .= block($block);
        $before = $block->[0];
    }
    return $out;
}

sub synopsis {
    my ($page) = @_;
    my $out = ".Sh SYNOPSIS\n.In $page->{file}\n";
    for my $part (@{ $page->{synopsis} }) {
        my ($kind, @rest) = @$part;
        if ($kind eq 'code') {
            $out .= block(['code', $rest[0]]);
            next;
        }
        my ($result, $name, $parameters) = @rest;
        $out .= ".Ft $result\n.Fo $name\n";
        $out .= qq(.Fa "$_"\n) for @$parameters ? @$parameters : 'void';
        $out .= ".Fc\n";
    }
    return $out;
}

sub mdoc {
    my ($page, $date, $version) = @_;
    my @see = map { [$_, 3] } @{ $page->{see} };
    push @see, ['softrdma', 7] if $page->{file} eq 'softrdma.h';
    my $out = qq(.\\" Made by docs/man/pages.pl from $page->{file}.\n)
        . ".Dd $date\n.Dt " . uc($page->{name}) . " 3\n.Os ndspi $version\n"
        . ".Sh NAME\n.Nm $page->{name}\n.Nd $page->{brief}\n" . synopsis($page);

    for my $part (@{ $page->{parts} }) {
        my ($title, @blocks) = @$part;
        $out .= ".Sh $title\n" . blocks(@blocks);
    }
    @see = sort { $a->[1] <=> $b->[1] || lc $a->[0] cmp lc $b->[0] } @see;
    return @see ? "$out.Sh SEE ALSO\n" . join(" ,\n", map { ".Xr $_->[0] $_->[1]" } @see) . "\n" : $out;
}

1;
