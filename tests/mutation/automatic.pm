# SPDX-License-Identifier: MIT
# automatic.pm - changes of C functions that are made by rule, without a list:
#   a condition of if holds always, or never; one of while or ?: is turned round
#   an operand of &&, || or | is left out
#   a limit is off by one: < and <=, > and >=, a number and the next one; == and != change places
#   a statement is left out: a call, a store
#   another value is returned: true for false, success for an error, 0 for what was found
# Comments, strings, directives, macros and tables at file scope are left alone, and so is what only tells (logs,
# probes) or checks (assertions).
package automatic;
use strict;
use warnings;
use Exporter qw(import);
use source qw(masked places);
our @EXPORT_OK = qw(mutants);

my %beside = ('<' => '<=', '<=' => '<', '>' => '>=', '>=' => '>', '==' => '!=', '!=' => '==');
my %other = (true => 'false', false => 'true', TRUE => 'FALSE', FALSE => 'TRUE', 0 => '-1', NULL => undef);
my $number = qr/^(?:0[xX][0-9a-fA-F]+|\d+)[uUlL]*$/;
my $only_tells = qr/^(?:log_\w+|PROBE\d|\w*assert\w*)$/;
my $no_expression = qr/^(?:if|else|while|for|do|switch|case|default|return|goto|break|continue|struct|union|enum|static
    |const|volatile|unsigned|signed|extern|register|typedef|_Static_assert|static_assert|_Atomic|__asm__|asm)$/x;
my $assigns = qr/^(?:[-+*\/%&|^]?=|<<=|>>=)$/;
my $ends = qr/^(?:[,;{}?:]|return|[-+*\/%&|^]?=|<<=|>>=)$/; # what no operand of &&, || and | goes beyond

# [{ from, length, new, line, what }...] of a file's text: `length` octets at `from` become `new`. @lines are [from, to]
# of the lines that may change; all may without one.
sub mutants {
    my ($text, @lines) = @_;
    my $bare = masked($text, 1);
    my @functions = grep { $_->{kind} eq 'function' } places($bare);
    $bare =~ s/^([ \t]*#(?:[^\n]*\\\n)*[^\n]*)/source::blank($1)/mge;
    my (@found, %seen);
    for my $function (@functions) {
        my $f = { text => $text, token => [], at => [], found => [] };
        pos($bare) = $function->{from};
        while ($bare =~ /\G\s*(\w[\w.]*|->|\+\+|--|<<=|>>=|<<|>>|[-+*\/%&|^=!<>]=|&&|\|\||"[^"]*"|'[^']*'|\S)/g) {
            last if $-[1] >= $function->{to};
            push @{$f->{token}}, $1;
            push @{$f->{at}}, $-[1];
        }
        change_function($f);
        push @found, @{$f->{found}};
    }
    $_->{line} = 1 + (substr($text, 0, $_->{from}) =~ tr/\n//) for @found;
    return grep {
        my $it = $_;
        !$seen{"$it->{from} $it->{length} $it->{new}"}++ &&
            (!@lines || grep { $it->{line} >= $_->[0] && $it->{line} <= $_->[1] } @lines)
    } sort { $a->{from} <=> $b->{from} } @found;
}

# Index of the bracket that closes or opens what the one at an index opens or closes.
sub partners {
    my (@partner, @open);
    for my $i (0 .. $#_) {
        push @open, $i if $_[$i] =~ /^[(\[{]$/;
        next unless $_[$i] =~ /^[)\]}]$/ && @open;
        $partner[$i] = pop @open;
        $partner[$partner[$i]] = $i;
    }
    return \@partner;
}

# The text of the tokens from one to another.
sub text_of {
    my ($f, $first, $last) = @_;
    return substr $f->{text}, $f->{at}[$first], $f->{at}[$last] + length($f->{token}[$last]) - $f->{at}[$first];
}

# A change: the tokens from one to another become $new. The words for it are followed by the text from $shown on.
sub change {
    my ($f, $first, $last, $new, $what, $shown, $shown_last) = @_;
    (my $text = text_of($f, $shown // $first, $shown_last // $last)) =~ s/\s+/ /g;
    $text = substr($text, 0, 67) . '...' if length $text > 70;
    push @{$f->{found}}, { from => $f->{at}[$first], length => length text_of($f, $first, $last), new => $new,
        what => "$what: $text" };
}

# The first (step -1) or last token (1) of the operand beside an operator.
sub operand {
    my ($f, $i, $step, $limit) = @_;
    my ($t, $found) = ($f->{token}, $i);
    for (my $k = $i + $step; $k >= 0 && $k < @$t; $k += $step) {
        last if $t->[$k] =~ $limit || $t->[$k] =~ ($step > 0 ? qr/^[)\]]$/ : qr/^[(\[]$/);
        $k = $f->{partner}[$k] // $k if $t->[$k] =~ ($step > 0 ? qr/^[(\[]$/ : qr/^[)\]]$/);
        $found = $k;
    }
    return $found;
}

sub change_function {
    my ($f) = @_;
    my $t = $f->{token};
    my $partner = $f->{partner} = partners(@$t);
    my %starts = map { $_ + 1 => 1 } grep { $t->[$_] =~ /^(?:[;{}]|else|do)$/ } 0 .. $#$t; # where a statement does
    for (my $i = 0; $i < @$t; $i++) {
        my ($word, $next) = ($t->[$i], $t->[$i + 1] // '');
        if ($starts{$i} && $word =~ $only_tells) {
            $i++ until $i >= $#$t || $t->[$i] eq ';';
        } elsif ($word =~ /^(?:if|while|for|switch|list_for_each\w*)$/ && $next eq '(' && $partner->[$i + 1]) {
            my $close = $partner->[$i + 1];
            $starts{$close + 1} = 1;
            change_condition($f, $word, $i + 2, $close - 1) if $word =~ /^(?:if|while)$/;
        } elsif ($word =~ /^(?:case|default)$/) {
            $i++ until $i >= $#$t || $t->[$i] eq ':';
            $starts{$i + 1} = 1;
        } elsif ($word eq 'return') {
            change_returned($f, $i + 1) if $next ne ';';
        } elsif ($beside{$word}) {
            my $limit = qr/$ends|^(?:&&|\|\|)$/;
            change($f, $i, $i, $beside{$word}, "\"$beside{$word}\" for \"$word\"", operand($f, $i, -1, $limit),
                operand($f, $i, 1, $limit));
        } elsif ($word =~ /^(?:&&|\|\|?)$/) {
            leave_out_operands($f, $i, $word);
        } elsif ($word eq '?') {
            my $first = operand($f, $i, -1, $ends);
            change($f, $first, $i - 1, '!(' . text_of($f, $first, $i - 1) . ')', 'the other choice') if $first < $i;
        } elsif ($word =~ $number && is_amount($f, $i)) {
            change($f, $i, $i, "($word + 1)", 'one more than', operand($f, $i, -1, $ends), operand($f, $i, 1, $ends));
        }
        leave_out_statement($f, $i) if $starts{$i};
    }
}

sub change_condition {
    my ($f, $word, $first, $last) = @_;
    return if $first == $last && $f->{token}[$first] =~ /^(?:$number|true|false)$/;
    my $condition = '(' . text_of($f, $first, $last) . ')';
    if ($word eq 'while') {
        change($f, $first, $last, "!$condition", 'negated');
    } else {
        change($f, $first, $last, "$condition || 1", 'always');
        change($f, $first, $last, "$condition && 0", 'never');
    }
}

# Behind the operator, and before it where it is the first of its kind.
sub leave_out_operands {
    my ($f, $i, $operator) = @_;
    my $limit = $operator eq '||' ? qr/$ends|^\|\|$/ : $operator eq '&&' ? qr/$ends|^(?:&&|\|\|)$/
        : qr/$ends|^(?:&&|\|\|?)$/;
    my ($first, $last) = (operand($f, $i, -1, $limit), operand($f, $i, 1, $limit));
    change($f, $i, $last, '', 'left out');
    change($f, $first, $i, '', 'left out') unless $f->{token}[$first - 1] eq $operator;
}

sub change_returned {
    my ($f, $first) = @_;
    my $t = $f->{token};
    my $last = operand($f, $first - 1, 1, qr/^;$/);
    my $word = $last == $first ? $t->[$first] : '';
    my $new = exists $other{$word} ? $other{$word} : $word =~ $number ? "$word + 1"
        : $word =~ /^[A-Z][A-Z0-9_]*(?:SUCCESS|OK|NONE)$/ ? '-1' : '0';
    change($f, $first, $last, $new, "returns $new for") if defined $new;
}

# A number that counts something: no dimension of an array, no loop for ever, nothing that is a return value.
sub is_amount {
    my ($f, $i) = @_;
    my $t = $f->{token};
    my ($before, $behind) = ($t->[$i - 1], $t->[$i + 1]);
    return 0 if $behind eq ';' && ($before eq 'return' || $before eq '-' && $t->[$i - 2] eq 'return');
    return 0 if $before eq '(' && $behind eq ')' && $t->[$i - 2] =~ /^(?:while|U?INT\d+_C)$/;
    return 0 if $before eq '[' && $t->[$i - 3] =~ /^(?:\w+|\*|,)$/ && $t->[$i - 3] ne 'return';
    return !($behind eq ')' && $t->[$f->{partner}[$i + 1] - 1] =~ /^__builtin_/);
}

# An expression that is a statement. A declaration is none.
sub leave_out_statement {
    my ($f, $i) = @_;
    my $t = $f->{token};
    return if $t->[$i] =~ /^[;{}]$/ || $t->[$i] =~ $no_expression || $t->[$i] =~ $only_tells;
    return if $t->[$i] =~ /^\w/ && $t->[$i + 1] =~ /^(?:\w+|[*:])$/;
    my ($k, $stores, $calls) = ($i, 0, 0);
    for (; $k < @$t && $t->[$k] ne ';'; $k++) {
        return if $t->[$k] =~ /^[)\]}{]$/;
        $stores = 1 if $t->[$k] =~ $assigns || $t->[$k] =~ /^(?:\+\+|--)$/;
        next unless $t->[$k] =~ /^[(\[]$/;
        $calls = 1 if $t->[$k - 1] =~ /^\w/;
        $k = $f->{partner}[$k] // return;
        return if $t->[$k + 1] =~ /^\w/ && $k > $i + 2; # a loop that is a macro
    }
    change($f, $i, $k, ';', 'left out') if $k < @$t && ($stores || $calls || $t->[$k - 1] eq ')');
}

1;
