# SPDX-License-Identifier: MIT
# source.pm - C text as mutate and automatic see it: where a function is, and where a piece of text is in it.
package source;
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(masked places locate);

# The text with comments, and on request what is between quotes, as blanks. Offsets and lines stay.
sub masked {
    my ($text, $quoted_too) = @_;
    $text =~ s{(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')}{
        defined $1 ? blank($1) : $quoted_too ? substr($2, 0, 1) . blank(substr $2, 1, -1) . substr($2, -1) : $2 }gse;
    return $text;
}

sub blank {
    my ($text) = @_;
    $text =~ s/[^\n]/ /g;
    return $text;
}

# What has a name in a file, of masked text: [{ names => { NAME => 1 }, kind, from, to }...]. kind is `function` (from
# and to enclose its body), `macro` (to the end of its continued lines), or `object` (a table or a type).
sub places {
    my ($text) = @_;
    my @found;
    while ($text =~ /^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/mg) { # no braces of a directive count below
        my ($from, $to) = ($-[0], $+[0]);
        my $directive = substr $text, $from, $to - $from;
        push @found, { names => { $1 => 1 }, kind => 'macro', from => $from, to => $to }
            if $directive =~ /^\s*#\s*define\s+(\w+)/;
        substr($text, $from, $to - $from) = blank($directive);
        pos($text) = $to;
    }
    my ($depth, $begin, $open) = (0, 0, 0);
    while ($text =~ /([{};])/g) {
        my ($what, $at) = ($1, $-[0]);
        my $in_column_0 = $at == 0 || substr($text, $at - 1, 1) eq "\n";
        $depth = 0 if $what eq '{' && $in_column_0 || $what eq '}' && $in_column_0 && $depth > 1;
        if ($what eq '{') {
            my $head = substr $text, $begin, $at - $begin;
            next if !$depth && $head =~ /\b(?:namespace\b[\w\s:]*|extern\s*"[^"]*"\s*)$/;
            $open = $at unless $depth++;
        } elsif ($what eq '}') {
            $depth-- if $depth;
            next if $depth;
            my $head = $open > $begin ? substr $text, $begin, $open - $begin : '';
            my $object = $head =~ /=\s*$/ || $head !~ /\)[^()]*$/;
            next if $object && substr($text, $at + 1) =~ /^[^;{}]*;/; # the semicolon ends it
            push @found, { names => names_of($head), kind => 'function', from => $open, to => $at + 1 } if !$object;
            $begin = $at + 1;
        } elsif (!$depth) {
            my $all = substr $text, $begin, $at - $begin;
            (my $head = $all) =~ s/\{.*//s;
            my $tail = substr $all, rindex($all, '}') + 1;
            my %names = map { $_ => 1 } "$head " =~ /(\w+)\s*(?=\[|=|$)/g, $tail =~ /\w+/g;
            push @found, { names => \%names, kind => 'object', from => $begin, to => $at + 1 } if $all =~ /\{/;
            $begin = $at + 1;
        }
    }
    return @found;
}

# The names of a function: all that parameters follow, so that those of attributes and macros do no harm.
sub names_of {
    my ($head) = @_;
    1 while $head =~ s/(?<=\()[^()]*\([^()]*\)/ /; # parentheses within parentheses
    my %names;
    while ($head =~ /((?:\w+::)*~?\w+)\s*\(/g) {
        $names{$1} = 1;
        $names{$1} = 1 if $1 =~ /::(~?\w+)$/;
    }
    return \%names;
}

# (from, length) of a piece of text in the named place of a file, or of the whole file without a name. undef and why,
# if it is not there exactly once. How code is broken into lines and indented, and what its comments say, are no matter.
sub locate {
    my ($text, $name, $anchor) = @_;
    $text = masked($text);
    my @in = length $name ? grep { $_->{names}{$name} } places(masked($text, 1)) : { from => 0, to => length $text };
    return (undef, "there is no \"$name\"") unless @in;
    my @tokens = $anchor =~ /\G\s*(\w+|"(?:\\.|[^"\\])*"|\S)/g;
    my $gap = qr/(?:\s|\\\n)*/;
    my $form = '';
    for my $i (0 .. $#tokens) {
        $form .= $tokens[$i - 1] =~ /\w$/ && $tokens[$i] =~ /^\w/ ? '(?:\s|\\\\\n)+' : $gap if $i;
        $form .= quotemeta $tokens[$i];
    }
    $form = "(?<!\\w)$form" if $anchor =~ /^\s*\w/;
    $form .= '(?!\w)' if $anchor =~ /\w\s*$/;
    my @found;
    for my $place (@in) {
        my $body = substr $text, $place->{from}, $place->{to} - $place->{from};
        push @found, [$place->{from} + $-[0], $+[0] - $-[0]] while $body =~ /$form/g;
    }
    my $where = length $name ? " in \"$name\"" : '';
    return (undef, "\"$anchor\" is not there$where") unless @found;
    return (undef, "\"$anchor\" is there " . @found . " times$where") if @found > 1;
    return @{$found[0]};
}

1;
