#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# forward.pl - generates the bridge of every interface from the one description there is, ndspi.h.
# usage: forward.pl ndspi.h calls|pe|unix > file
#   calls  numbers and parameter blocks of the calls, for both sides
#   pe     vtables for Windows programs, whose methods do nothing but call
#   unix   the other end of each call: the native method of the same name
# The type of a parameter decides how it is forwarded. A parameter of an unknown type ends the build, so that nothing
# new in the header is forwarded wrongly.
use strict;
use warnings;

my ($header, $what) = @ARGV;
die "usage: forward.pl ndspi.h calls|pe|unix\n" unless @ARGV == 2 && $what =~ /^(calls|pe|unix)$/;

my $scalar = qr/ULONG|USHORT|DWORD|INT|BOOL|SIZE_T|UINT32|UINT64|ULONGLONG|KAFFINITY|HANDLE|ND_MR_HANDLE/;
my $data = qr/VOID|ND2?_ADAPTER_INFO|ND2?_SGE|ND2?_RESULT|ND_MW_DESCRIPTOR|USHORT|ULONG|SIZE_T|UINT64|KAFFINITY|HANDLE|ND_MR_HANDLE/;
my %returns = map { $_ => 1 } qw(HRESULT VOID ULONG SIZE_T UINT32 HANDLE);

# [name, [[returns, method, [[type, name, kind]...]]...]]...; kinds: plain, object, made, address, address_out, list,
# overlapped
my @interfaces = parse($header);

sub kind_of {
    my ($type, $name, $method) = @_;
    return 'plain' if $type =~ /^$scalar$/ || $type eq 'REFIID';
    return 'overlapped' if $type eq 'OVERLAPPED *';
    return 'object' if $type =~ /^(IUnknown|IND\w+) \*$/;
    return 'made' if $type =~ /^IND\w+ \*\*$/ || $type eq 'VOID **';
    return 'address' if $type eq 'const struct sockaddr *';
    return 'address_out' if $type eq 'struct sockaddr *';
    return 'list' if $type eq 'SOCKET_ADDRESS_LIST *';
    return 'plain' if $type =~ /^(const )?$data \*$/ || $type eq 'ND_RESULT **';
    die "$header: $method: no way is known for \"$type $name\"\n";
}

sub parameter {
    my ($text, $method) = @_;
    $text =~ s/\[\]$// and $text =~ s/(\w+)$/*$1/;
    my ($type, $name) = $text =~ /^(.*?)\s*(\w+)$/ or die "$header: $method: \"$text\"\n";
    $type =~ s/\*\s+\*/**/;
    $type =~ s/\s*(\*+)$/ $1/;
    return [$type, $name, kind_of($type, $name, $method)];
}

sub parse {
    my ($file) = @_;
    local $/;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = <$in>;
    my @found;
    $text =~ s{/\*.*?\*/}{}gs;
    while ($text =~ /DECLARE_INTERFACE_\((\w+),\s*(\w+)\)\s*\{(.*?)\n\};/gs) {
        my ($interface, $body, @methods) = ($1, $3);
        my $overlapped = $body =~ s/ND_OVERLAPPED_METHODS_//;
        $body =~ s/ND_IUNKNOWN_METHODS_//;
        if ($overlapped) {
            my $base = $interface =~ /^IND2/ ? 'IND2Overlapped' : 'INDOverlapped';
            my ($from) = grep { $_->[0] eq $base } @found;
            push @methods, @{$from->[1]};
        }
        while ($body =~ /\G\s*IFACEMETHOD(?:_\((\w+),\s*(\w+)\)|\((\w+)\))\s*\(THIS_?\s*(.*?)\)\s*PURE;/gcs) {
            my ($returns, $method, $rest) = ($1 // 'HRESULT', $2 // $3, $4);
            $rest =~ s/\s+/ /g;
            die "$file: $method returns $returns\n" unless $returns{$returns};
            push @methods, [$returns, $method, [map { parameter($_, "$interface\::$method") } split /,\s*/, $rest]];
        }
        $body =~ /\G\s*$/ or die "$file: $interface: cannot read: " . substr($body, pos($body) // 0, 80) . "\n";
        push @found, [$interface, \@methods];
    }
    return @found;
}

# Overlapped alone is a base, no object.
sub objects { grep { $_->[0] !~ /Overlapped$/ } @interfaces }

sub made_interface {
    my ($interface, $type, $name) = @_;
    return $1 if $type =~ /^(IND\w+)/;
    return "IND2$1" if $name =~ /^pp(\w+)$/;
    die "$interface: of which interface is $name?\n";
}

sub calls {
    print "/* Numbers of the calls, in the order of the unix side's table; the first are those of calls.h. */\n";
    print "enum nd_call {\n    ND_CALLS_BY_HAND\n";
    for my $i (objects()) { print "    ND_CALL_$i->[0]_$_->[1],\n" for @{$i->[1]} }
    print "    ND_CALLS\n};\n\n#define ND_INTERFACES(with)";
    print " \\\n    with($_->[0])" for objects();
    print "\n";
    for my $i (objects()) {
        for my $m (@{$i->[1]}) {
            print "\nstruct $i->[0]_$m->[1]_call {\n    $i->[0] *native;\n";
            print "    " . join(' ', $_->[0], $_->[1]) =~ s/\* /*/r . ";\n" for @{$m->[2]};
            print "    $m->[0] result;\n" if $m->[0] ne 'VOID';
            print "};\n";
        }
    }
}

sub pe_method {
    my ($interface, $method) = @_;
    my ($returns, $name, $parameters) = @$method;
    my $call = "${interface}_${name}";
    my $list = join '', map { ", " . ("$_->[0] $_->[1]" =~ s/\* /*/r) } @$parameters;
    my (@before, @values, @after);
    my ($made) = grep { $_->[2] eq 'made' } @$parameters;

    for my $p (@$parameters) {
        my $value = $p->[1];
        if ($p->[2] eq 'object') {
            push @before, "IUnknown *held_$value = NULL;";
            push @after, "nd_proxy_drop(held_$value);";
            $value = "nd_proxy_reach((IUnknown *)$value, &held_$value)";
        } elsif ($p->[2] eq 'made') {
            push @before, "struct nd_making making;";
            $value = "($p->[0])nd_proxy_begin(&making, iface, ND_KIND_" . made_interface($interface, @$p) . ", (VOID **)$value)";
        }
        push @values, "        .$p->[1] = $value,";
    }
    print "\nstatic $returns STDMETHODCALLTYPE ${call}_($interface *iface$list)\n{\n";
    print "    $_\n" for @before;
    if ($name =~ /^Register/) {
        my ($writes) = grep { $_->[1] eq 'flags' } @$parameters;
        my ($buffer, $size) = ($parameters->[0][1], $parameters->[1][1]);
        print "    nd_touch($buffer, $size, " . ($writes ? 'flags' : 'ND_MR_FLAG_ALLOW_LOCAL_WRITE') . ");\n";
    }
    print "    struct ${call}_call call = {\n        .native = nd_proxy_native(iface),\n";
    print "$_\n" for @values;
    print "    };\n";
    my $forward = "nd_forward(ND_CALL_$call, &call)";
    if ($made) {
        print "    HRESULT failed = making.proxy || !$made->[1] ? $forward : ND_NO_MEMORY;\n\n";
        print "    $_\n" for @after;
        print "    return nd_proxy_end(&making, failed ? failed : call.result);\n";
    } elsif ($returns eq 'VOID') {
        print "\n    $forward;\n";
    } else {
        print "    HRESULT failed = $forward;\n\n";
        print "    $_\n" for @after;
        print "    return failed ? " . ($returns eq 'HRESULT' ? 'failed' : '0') . " : call.result;\n";
    }
    print "}\n";
}

sub pe_interface {
    my ($interface, $methods) = @_;
    print <<"TEXT";

/* ---- $interface ---- */

static HRESULT STDMETHODCALLTYPE ${interface}_QueryInterface_($interface *iface, REFIID iid, VOID **out)
{
    return nd_proxy_query((IUnknown *)iface, iid, out);
}

static ULONG STDMETHODCALLTYPE ${interface}_AddRef_($interface *iface)
{
    return nd_proxy_addref((IUnknown *)iface);
}

static ULONG STDMETHODCALLTYPE ${interface}_Release_($interface *iface)
{
    return nd_proxy_release((IUnknown *)iface);
}
TEXT
    pe_method($interface, $_) for @$methods;
}

sub pe {
    print qq(#include "ndspi/wine/proxy.h"\n);
    pe_interface(@$_) for objects();
    print "\nconst struct nd_vtables nd_vtables = {\n";
    for my $i (objects()) {
        print "    .$i->[0] = {\n";
        print "        .$_ = $i->[0]_${_}_,\n" for qw(QueryInterface AddRef Release), map { $_->[1] } @{$i->[1]};
        print "    },\n";
    }
    print "};\n";
}

sub unix_method {
    my ($interface, $method) = @_;
    my ($returns, $name, $parameters) = @$method;
    my $call = "${interface}_${name}";
    my $settles = $name =~ /^Cancel/ || grep { $_->[2] eq 'overlapped' } @$parameters;
    my (@before, @after, @arguments);

    for my $n (0 .. $#$parameters) {
        my ($type, $p, $kind) = @{$parameters->[$n]};
        my $next = $n < $#$parameters ? $parameters->[$n + 1][1] : '';
        my $argument = "call->$p";
        if ($kind eq 'address') {
            push @before, "struct sockaddr_storage $p;";
            $argument = "nd_wine_address_in(call->$p, call->$next, &$p)";
        } elsif ($kind eq 'address_out') {
            push @after, "nd_wine_address_out(call->result, call->$p);";
        } elsif ($kind eq 'list') {
            push @after, "nd_wine_list_out(call->result, call->$p, call->$next ? *call->$next : 0);";
        }
        push @arguments, $argument;
    }
    print "\nstatic int32_t ${call}_(void *args)\n{\n    struct ${call}_call *call = args;\n";
    print "    $_\n" for @before;
    print "\n    nd_wine_enter();\n    " . ($returns eq 'VOID' ? '' : 'call->result = ');
    print "call->native->lpVtbl->$name(" . join(', ', 'call->native', @arguments) . ");\n";
    print "    $_\n" for @after;
    print "    nd_wine_leave" . ($settles ? '_settled' : '') . "();\n    return 0;\n}\n";
}

sub unix {
    print qq(#include "ndspi/wine/unix.h"\n);
    for my $i (objects()) { unix_method($i->[0], $_) for @{$i->[1]} }
    print "\n__attribute__((visibility(\"default\"))) nd_wine_call *const __wine_unix_call_funcs[ND_CALLS] = {\n    ND_CALL_FUNCTIONS_BY_HAND\n";
    for my $i (objects()) { print "    [ND_CALL_$i->[0]_$_->[1]] = $i->[0]_$_->[1]_,\n" for @{$i->[1]} }
    print "};\n";
}

print "/* SPDX-License-Identifier: MIT */\n/* Generated by forward.pl from ndspi.h. */\n";
{ no strict 'refs'; &{"main::$what"}(); }
