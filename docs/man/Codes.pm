# SPDX-License-Identifier: MIT
# The parts RETURN VALUE and ERRORS of a page.
#
#   learn_codes(HEADERS)          what each code means, of ndstatus.h
#   learn_common(NAME, TEXTS...)  codes that many calls have: "All requests return ..." of an interface or a part of
#                                 ndkpi.h, "all of them return ..." of ndspi.h and ndkpi.h
#   value_blocks(CALL), error_blocks(CALL)    blocks (Pages.pm)
#
# A call is { name, result, parameters, brief, marks, returns, interface, base, model, external }: returns and marks are
# those of Comments.pm; model is the method that it is like, external the function of another library. Marks besides:
# makes (an object), requests (posts a request).
package Codes;
use strict;
use warnings;
use Exporter 'import';
use Comments qw(returned capital);
our @EXPORT_OK = qw(learn_codes learn_common value_blocks error_blocks);

my (%common, %meaning);
my %others = (
    E_NOINTERFACE => 'the object has no such interface', E_POINTER => 'a pointer is NULL',
    E_OUTOFMEMORY => 'out of memory', CLASS_E_CLASSNOTAVAILABLE => 'there is no such class',
    STATUS_INSUFFICIENT_RESOURCES => 'out of memory, or of resources of the device', S_OK => 'done',
    STATUS_SUCCESS => 'done', 0 => 'done', STATUS_PENDING => 'the completion callback will be called',
    ENOMEM => 'out of memory', EINVAL => 'an argument is wrong',
    EIO => 'the device failed',
);
my %succeeds = map { $_ => 1 }
    qw(ND_SUCCESS ND_PENDING ND_TIMEOUT S_OK S_FALSE STATUS_SUCCESS STATUS_PENDING NULL 0 -1);

sub learn_codes {
    my ($header) = grep { $_->{file} eq 'ndstatus.h' } @_;
    %common = ();
    %meaning = %others;
    for my $item (grep { $_->{kind} eq 'constants' } @{ $header->{items} }) {
        $meaning{ $_->[0] } = $_->[1] =~ s/ \(a success code\)//r for @{ $item->{members} };
    }
}

sub learn_common {
    my ($name, @texts) = @_;
    for my $text (@texts) {
        my ($end, $list) = $text =~ /\b[Aa]ll (?:of them|requests) return( or end with)? (.*?)[.](?= [A-Z]|$)/ or next;
        my $kind = $text =~ /^"Size query"/ ? "size_query $name"
            : $text =~ /^"CC"/ ? 'creates' : $text =~ /^"RC"/ ? 'request'
            : $text =~ /^Methods that create/ ? 'makes' : "requests $name";
        $common{$kind} = [returned($end ? 'both' : 'call', $list)];
    }
}

# The name of the parameter of a number, which begins with 1.
sub parameter {
    my ($call, $number) = @_;
    my $text = $call->{parameters}[$number - 1] // die "$call->{name} has no parameter $number\n";
    return $text =~ /(\w+)(?:\[\])?$/ ? $1 : $text;
}

# ND_INVALID_PARAMETER_n, "unknown flag"; undef: the call has no flags.
sub numbered {
    my ($call, $code) = @_;
    return $code unless $code =~ /^(.*)_n$/;
    my $base = $1;
    my ($flags) = grep { parameter($call, $_) =~ /^flags$/i } 1 .. @{ $call->{parameters} };
    return defined $flags ? "${base}_$flags" : undef;
}

# Rows [CODES, CAUSE] of what is returned.
sub rows {
    my ($call, @returns) = @_;
    my @rows;
    for my $return (@returns) {
        my @codes = grep { defined } map { numbered($call, $_) } @{ $return->{codes} };
        my $cause = $return->{text} // '';
        if ($cause =~ /^(?:the argument of that place)?$/) {
            for my $code (@codes) {
                my $own = $meaning{$code};
                $own = parameter($call, $1) . ' is wrong' if $code =~ /^ND_INVALID_PARAMETER_(\d+)$/;
                push @rows, [$code, $own // die "$call->{name}: no cause of $code\n"];
            }
        } elsif (@codes) {
            push @rows, [join(', ', @codes), $cause];
        }
    }
    my %name = map { parameter($call, $_) => 1 } 1 .. @{ $call->{parameters} };
    return map { [$_->[0], ($_->[1] =~ /^(\w+)/ && $name{$1} ? $_->[1] : capital($_->[1])) . '.'] } @rows;
}

# All that a call returns, with what it has in common with others; each code once.
sub all_returns {
    my ($call) = @_;
    my @returns = @{ $call->{returns} };
    my $marks = $call->{marks};
    my $parameters = join ' ', @{ $call->{parameters} };

    push @returns, @{ $common{"requests $call->{interface}"} // [] }
        if $marks->{requests} && !($call->{model} && $call->{interface} eq 'ndkpi.h');
    my $family = ($call->{interface} // '') eq 'ndkpi.h' ? 'ndkpi.h' : 'ndspi.h';
    push @returns, @{ $common{"size_query $family"} // [] }
        if $marks->{size_query} && !$call->{model};
    for my $kind (grep { $marks->{$_} && !$call->{model} } qw(creates request)) {
        push @returns, @{ $common{$kind} // [] };
    }
    if ($marks->{makes} && !$call->{model}) {
        push @returns, grep { my $code = $_->{codes}[0];
            ($code ne 'E_NOINTERFACE' || $parameters =~ /\biid\b/)
                && ($code ne 'ND_INVALID_HANDLE' || $parameters =~ /\bhOverlappedFile\b/) } @{ $common{makes} };
    }
    my %seen;
    if (($call->{interface} // '') eq 'ndkpi.h') { # a code may have causes of its own, and those of all
        my (%told, @merged);
        for my $return (@returns) {
            my $key = "$return->{when} @{ $return->{codes} }";
            my $before = $told{$key};
            push @merged, $told{$key} = {%$return} unless $before && @{ $return->{codes} };
            next if !$before || ($return->{text} // '') eq '';
            $before->{text} = join '; ', grep { ($_ // '') ne '' } $before->{text}, $return->{text};
        }
        return @merged;
    }
    return grep { my $key = "$_->{when} @{ $_->{codes} }"; !@{ $_->{codes} } || !$seen{$key}++ } @returns;
}

sub is_success { return @{ $_[0]{codes} } && !grep { !$succeeds{$_} } @{ $_[0]{codes} }; }

sub value_blocks {
    my ($call) = @_;
    my @returns = all_returns($call);
    my ($marks, $result) = @$call{qw(marks result)};
    my @words = grep { !@{ $_->{codes} } && !$_->{as} } @returns;
    my @rows = rows($call, grep { is_success($_) } @returns);

    return [p => "That of <<$call->{external}(3)>>."] if $call->{external} && !@words && !@rows;
    return [p => 'It returns nothing.'] if $result =~ /^void$/i;
    return [p => capital("$words[0]{text}.")], @rows ? [list => @rows] : () if @words;
    if ($marks->{overlapped} || $call->{model} && "@{ $call->{parameters} }" =~ /OVERLAPPED \*pOverlapped$/) {
        @rows = grep { $_->[0] ne 'ND_SUCCESS' } @rows;
        my ($end) = grep { $_->{when} ne 'call' && "@{ $_->{codes} }" eq 'ND_SUCCESS' && $_->{text} } @returns;
        my $result = ($call->{interface} =~ /^IND2/ ? 'IND2' : 'IND') . 'Overlapped::GetOverlappedResult';
        unshift @rows, ['ND_PENDING', "The request was started. <<$result(3)>> returns how it ended."],
            ['ND_SUCCESS', 'The request ended well' . ($end ? ": $end->{text}" : '') . '.'];
    } elsif (my ($type) = map { { creates => 'CREATE', request => 'REQUEST' }->{$_} } grep { $marks->{$_} }
        qw(creates request)) {
        unshift @rows, ['STATUS_PENDING', "<<NDK_FN_${type}_COMPLETION(3)>> will be called."];
    } elsif (!grep { $_->[0] =~ /SUCCESS|S_OK|^0$|PENDING/ } @rows) {
        my ($as) = grep { $_->{as} } @returns;
        return [p => "That of <<$as->{as}(3)>>."] if $as;
        return [p => "That of <<$call->{model}(3)>>."] if $call->{model} && !@rows;
        return [p => capital("$call->{brief}.")] if $result ne 'HRESULT' && !@rows;
        unshift @rows, ['ND_SUCCESS', 'Done.'] if $result eq 'HRESULT';
    }
    return [list => @rows];
}

sub error_blocks {
    my ($call) = @_;
    my @returns = grep { !is_success($_) } all_returns($call);
    my @references = map { $_->{as} } grep { $_->{as} } @returns;
    my %intro = (call => 'The call returns', end => 'The request ends with',
        both => 'The call returns, or the request ends with');
    my @blocks;

    unshift @references, $call->{model} if $call->{model};
    unshift @references, $call->{external} if $call->{external} && !grep { @{ $_->{codes} } } @{ $call->{returns} };
    for my $when (qw(call both end)) {
        my @rows = rows($call, grep { @{ $_->{codes} } && $_->{when} eq $when } @returns) or next;
        push @blocks, [p => "$intro{$when}:"]
            if $when ne 'call' || grep { @{ $_->{codes} } && $_->{when} ne 'call' } @returns;
        push @blocks, [list => @rows];
    }
    unshift @blocks, [p => 'Those of ' . join(', ', map { "<<$_(3)>>" } @references) . (@blocks ? ', and:' : '.')]
        if @references;
    return @blocks ? @blocks : [p => 'It does not fail.'];
}

1;
