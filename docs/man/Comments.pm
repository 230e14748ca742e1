# SPDX-License-Identifier: MIT
# Understands the comment above a declaration: what it says of parameters, and which codes a call returns or ends with.
#
#   parse_comment(LINES, PARAMETERS [, AS_IT_IS])
#     { brief => 'sentence', marks => { overlapped => 1, ... }, blocks => [...], returns => [...] }
#
# capital(TEXT) is the text as a sentence begins, unless it begins with a name.
#
# LINES are those of Headers.pm, PARAMETERS the names that the declaration has. Blocks are [p => TEXT],
# [parameters => [NAMES, TEXT]...] and [items => TEXT...]. A return is { when => 'call', 'end' or 'both',
# codes => [...], text => ..., as => NAME }: codes are empty where the comment says in words what is returned, `as`
# names the function whose codes they are. AS_IT_IS: blocks keep their whole text.
package Comments;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(parse_comment returned capital);

my $code = qr/(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9](?:_n)?|0x[0-9A-F]{8}|E[A-Z]{3,}|NULL|-1|0|_\d+)(?!\w)/;
my %marks = (
    'Overlapped' => 'overlapped', 'Size query' => 'size_query', 'Passive' => 'passive', 'CC' => 'creates',
    'RC' => 'request', 'RC, RequestCompletion optional' => 'request',
);

sub capital { return $_[0] =~ /^[a-z]+(?![\w:*])/ ? ucfirst $_[0] : $_[0]; }

sub sentences { return split /(?<=[a-z0-9_)A-Z"][.]) (?=[A-Z0-9"])/, $_[0]; }

# "ND_X_1, _3 to _5" in full. $base: "ND_X", from here to the next ones of a list.
sub codes_in {
    my ($text, $base) = @_;
    my @codes;
    while ($text =~ /(to )?($code)/g) {
        my ($range, $word) = ($1, $2);
        ($$base) = $word =~ /^(.*)_\d+$/ if $word =~ /^[A-Z].*_\d+$/;
        if ($range) {
            my ($first) = $codes[-1] =~ /(\d+)$/;
            my ($last) = $word =~ /(\d+)$/;
            push @codes, map { "${$base}_$_" } $first + 1 .. $last;
        } else {
            push @codes, $word =~ /^_/ ? $$base . $word : $word;
        }
    }
    return @codes;
}

# What stands behind "Returns" or "Ends with".
sub returned {
    my ($when, $text) = @_;
    my ($base, @found) = ('');
    for my $item (split /; /, $text) {
        if ($item =~ /^as (\w+::\w+|Nd\w+|srd_\w+)$/) {
            push @found, { when => $when, codes => [], as => $1 };
        } elsif ($item =~ /^($code(?:(?:, | to | and | or )$code)*)(?:: |,? |$)(.*)$/) {
            my ($codes, $cause) = ($1, $2);
            push @found, { when => $when, codes => [codes_in($codes, \$base)], text => $cause };
        } elsif (@found && !$found[-1]{as}) {
            $found[-1]{text} .= "; $item";
        } else {
            push @found, { when => $when, codes => [], text => $item };
        }
    }
    return @found;
}

my %when = ('Returns' => 'call', 'Returns also' => 'call', 'Ends with' => 'end', 'Returns or ends with' => 'both');

# Takes marks and what is returned out of a paragraph.
sub take_out {
    my ($text, $parsed) = @_;
    my $verb = join '|', sort { length $b <=> length $a } keys %when;
    while ($text =~ s/(?:^|(?<=[.] ))($verb) (.*?)(?:[.](?= [A-Z"]|$) ?|$)//) {
        push @{ $parsed->{returns} }, returned($when{$1}, $2);
    }
    for my $mark (sort { length $b <=> length $a } keys %marks) {
        $parsed->{marks}{ $marks{$mark} } = 1 if $text =~ s/(?:^|(?<=[.] ))\Q$mark\E(?:[.] ?|; |$)//;
    }
    $text =~ s/ +$//;
    return $text;
}

# Whether a line that does not look like a parameter goes on with the one before.
sub goes_on {
    my ($line, $before) = @_;
    return $line =~ /^ {2,}\S/ || $line =~ /^[a-z0-9(]/
        || $line =~ /^[A-Z]/ && length $before > 95 && $line !~ /^(?:Returns|Ends with)\b/;
}

# The comment in blocks, before anything is taken out.
sub blocks_of {
    my ($lines, $names) = @_;
    my $name = @$names ? join '|', map { quotemeta } @$names : '(?!)';
    my ($open, $before, @blocks) = ('', '');
    for my $line (@$lines) {
        if ($line =~ /^((?:$name)(?:, (?:$name))*) +((?:in and out|inout|in|out)(?:, optional)?)(?:[:.;]|$) ?(.*)/) {
            push @blocks, ['parameters'] unless @blocks && $open eq 'parameters';
            push @{ $blocks[-1] }, [$1, $2 . ($3 eq '' ? '' : ": $3")];
            $open = 'parameters';
        } elsif ($line =~ /^- (.*)/) {
            push @blocks, ['items'] unless @blocks && $open eq 'items';
            push @{ $blocks[-1] }, $1;
            $open = 'items';
        } elsif ($line eq '') {
            $open = '' unless $open eq 'items';
        } elsif ($open eq 'parameters' && goes_on($line, $before)) {
            $blocks[-1][-1][1] .= ' ' . $line =~ s/^ +//r;
        } elsif ($open eq 'items' && $line =~ /^ {2,}(\S.*)/) {
            $blocks[-1][-1] .= " $1";
        } elsif ($open eq 'p') {
            $blocks[-1][1] .= ' ' . $line =~ s/^ +//r;
        } else {
            push @blocks, [p => $line];
            $open = 'p';
        }
        $before = $line;
    }
    return @blocks;
}

sub parse_comment {
    my ($lines, $names, $as_it_is) = @_;
    my %parsed = (marks => {}, blocks => [], returns => []);
    for my $block (blocks_of($lines, $names)) {
        my ($kind, @rest) = @$block;
        if ($kind eq 'parameters') {
            $_->[1] = take_out($_->[1], \%parsed) =~ s/[.]$//r for @rest;
        } elsif ($kind eq 'p') {
            my $text = take_out($rest[0], \%parsed);
            push @{ $parsed{blocks} }, $block if $as_it_is;
            next if $text eq '';
            if (!defined $parsed{brief} && !grep({ $_->[0] eq 'items' } @{ $parsed{blocks} })) {
                my ($first, @others) = sentences($text);
                $parsed{brief} = $first =~ s/[.]$//r;
                $text = join ' ', @others;
            }
            next if $text eq '' || $as_it_is;
            @rest = ($text);
        }
        push @{ $parsed{blocks} }, [$kind, @rest];
    }
    return \%parsed;
}

1;
