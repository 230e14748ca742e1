#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# forward.pl - generates the bridge of every interface from the one description there is, ndspi.h.
# usage: forward.pl ndspi.h calls|pe|unix [VERSION FILE...] > file
#   calls  numbers and parameter blocks of the calls, for both sides, and what names the build: VERSION and a sum of
#          what both have to agree on, ndspi.h, this script and the FILEs
#   pe     vtables for Windows programs, whose methods do nothing but call
#   unix   the other end of each call: the native method of the same name
# The type of a parameter decides how it is forwarded. A parameter of an unknown type ends the build, so that nothing
# new in the header is forwarded wrongly.
use strict;
use warnings;
use Digest::MD5;

my ($header, $what, $version, @files) = @ARGV;
die "usage: forward.pl ndspi.h calls|pe|unix [VERSION FILE...]\n"
    unless @ARGV >= 2 && $what =~ /^(calls|pe|unix)$/ && ($what eq 'calls') == defined $version;

my $scalar = qr/ULONG|USHORT|DWORD|INT|BOOL|SIZE_T|UINT32|UINT64|ULONGLONG|KAFFINITY|HANDLE|ND_MR_HANDLE/;
my $data = qr/VOID|ND2?_ADAPTER_INFO|ND2?_SGE|ND2?_RESULT|ND_MW_DESCRIPTOR|USHORT|ULONG|SIZE_T|UINT64|KAFFINITY|HANDLE|ND_MR_HANDLE/;
my %returns = map { $_ => 1 } qw(HRESULT VOID ULONG SIZE_T UINT32 HANDLE);

# [name, [[returns, method, [[type, name, kind]...]]...]]...; kinds: plain, object, made, iid, address, address_out,
# list, overlapped, entries, data, data_out, descriptor, one (a value that the method stores), result, results
my @interfaces = parse($header);

sub kind_of {
    my ($type, $name, $method) = @_;
    return 'plain' if $type =~ /^$scalar$/;
    return 'iid' if $type eq 'REFIID';
    return 'overlapped' if $type eq 'OVERLAPPED *';
    return 'object' if $type =~ /^(IUnknown|IND\w+) \*$/;
    return 'made' if $type =~ /^IND\w+ \*\*$/ || $type eq 'VOID **';
    return 'address' if $type eq 'const struct sockaddr *';
    return 'address_out' if $type eq 'struct sockaddr *';
    return 'list' if $type eq 'SOCKET_ADDRESS_LIST *';
    return 'entries' if $type =~ /^const ND2?_SGE \*$/;
    return 'descriptor' if $type eq 'const ND_MW_DESCRIPTOR *';
    return 'results' if $type eq 'ND2_RESULT *' || $type eq 'ND_RESULT **';
    return 'result' if $type eq 'ND_RESULT *';
    return 'data' if $type eq 'const VOID *' && $name eq 'pPrivateData';
    return 'data_out' if $type eq 'VOID *' && $name eq 'pPrivateData';
    return 'one' if $type =~ /^($scalar|ND_MW_DESCRIPTOR) \*$/;
    return 'plain' if $type =~ /^(const )?$data \*$/;
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

sub build {
    my $sum = Digest::MD5->new;
    for my $file ($header, $0, @files) {
        open my $in, '<:raw', $file or die "$file: $!\n";
        $sum->addfile($in);
    }
    return "$version-" . substr $sum->hexdigest, 0, 12;
}

sub calls {
    my $build = build();
    print "/* What both sides are made of. */\n#ifndef ND_CALLS_BUILD\n#define ND_CALLS_BUILD \"$build\"\n#endif\n\n";
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
    my (@before, @values, @after, @objects);
    my ($made) = grep { $_->[2] eq 'made' } @$parameters;

    for my $p (@$parameters) {
        my $value = $p->[1];
        if ($p->[2] eq 'object') {
            push @objects, $value;
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
    my @wrong = ((map { "nd_proxy_wrong((IUnknown *)$_)" } @objects), ($made ? "nd_out_wrong($made->[1])" : ()));
    print "    if (" . join(' || ', @wrong) . ")\n        return ND_ACCESS_FAULT;\n" if @wrong;
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
    print qq(#include "wine/proxy.h"\n);
    pe_interface(@$_) for objects();
    print "\nconst struct nd_vtables nd_vtables = {\n";
    for my $i (objects()) {
        print "    .$i->[0] = {\n";
        print "        .$_ = $i->[0]_${_}_,\n" for qw(QueryInterface AddRef Release), map { $_->[1] } @{$i->[1]};
        print "    },\n";
    }
    print "};\n";
}

# How a parameter passes: what comes before the native call, the argument, and what comes after (argument.h).
sub crossing {
    my ($type, $p, $kind, $next, $keeps) = @_;
    my $given = "call->$p";

    return ([], $given, []) if $kind =~ /^(plain|object|made|results)$/;
    return (["nd_wine_readable($given, sizeof(IID));"], $given, []) if $kind eq 'iid';
    return (["nd_wine_writable($given, sizeof(*$given));"], $given, []) if $kind =~ /^(overlapped|result)$/;
    return (["struct sockaddr_storage $p;"], "nd_wine_address_in($given, call->$next, &$p)", []) if $kind eq 'address';
    return (["nd_wine_writable($given, call->$next && *call->$next ? 1 : 0);"], $given,
        ["nd_wine_list_out(call->result, $given, call->$next ? *call->$next : 0);"]) if $kind eq 'list';
    if ($kind eq 'entries') {
        my ($entry) = $type =~ /^const (\w+)/;
        return (["$entry $p\[ND_WINE_ENTRIES];"], "nd_wine_list($p, $given, call->$next, sizeof(*$p))", []);
    }
    return (["char $p\[ND_WINE_DATA];"], "nd_wine_data_in($p, $given, call->$next)", []) if $kind eq 'data';
    if ($kind eq 'descriptor') {
        return (["ND_MW_DESCRIPTOR $p;", "if ($given)", "    $p = *$given;"], "$given ? &$p : NULL", []);
    }
    if ($kind eq 'one') {
        my ($one) = $type =~ /^(.*) \*$/;
        # Another thread may see the end of an overlapped request before this call returns.
        return (["nd_wine_writable($given, sizeof(*$given));"], $given, []) if $keeps;
        return (["$one $p = { 0 }, ${p}_was = { 0 };", "nd_wine_writable($given, sizeof(*$given));", "if ($given)",
                "    $p = ${p}_was = *$given;"], "$given ? &$p : NULL",
            ["if ($given && memcmp(&$p, &${p}_was, sizeof($p)) != 0)", "    *$given = $p;"]);
    }
    # The value before is the room, that after what was stored, or has to be.
    die "no way for $kind\n" unless $kind =~ /^(data_out|address_out)$/;
    my $stored = $kind eq 'data_out' ? "(call->result == ND_SUCCESS || call->result == ND_BUFFER_OVERFLOW)"
                                     : "call->result == ND_SUCCESS";
    my $made = $kind eq 'data_out' ? "char $p\[ND_WINE_DATA]" : "struct sockaddr_storage $p";
    my $address = $kind eq 'data_out' ? $p : "(struct sockaddr *)&$p";
    my @translate = $kind eq 'data_out' ? () : ("nd_wine_address_out(call->result, $address);");
    return (["$made;", "nd_wine_writable($given, call->$next && *call->$next ? 1 : 0);"], "$given ? $address : NULL",
        [@translate, "if ($given && call->$next && $stored)",
            "    memcpy($given, $address, nd_wine_room($next < ${next}_was ? $next : ${next}_was));"]);
}

# What an inline request reads is the program's, too.
sub inline_data {
    my ($name, $parameters) = @_;
    my ($list) = grep { $_->[2] eq 'entries' } @$parameters;
    my ($flags) = grep { $_->[1] =~ /^flags$/i } @$parameters;

    return () unless $list && $name =~ /^(Send|SendAndInvalidate|Write)$/;
    return ("nd_wine_inline_v1(call->$list->[1], call->nSge);") if $list->[0] eq 'const ND_SGE *';
    return ("if (call->$flags->[1] & ND_OP_FLAG_INLINE)", "    nd_wine_inline_v2(call->$list->[1], call->nSge);");
}

# In parts, each of which has its copy.
sub get_results {
    my ($call, $results, $room) = @_;
    my ($type, $name) = @$results;
    my ($entry) = $type =~ /^(.*)\*$/;
    print <<"TEXT";

static int32_t ${call}_(void *args)
{
    struct ${call}_call *call = args;
    ${entry}part[ND_WINE_RESULTS];
    size_t room, got;

    if (call->$room)
        (void)*(const volatile char *)call->$name;
    call->result = 0;
    nd_wine_enter();
    do {
        room = call->$room - call->result < ND_WINE_RESULTS ? call->$room - call->result : ND_WINE_RESULTS;
        got = call->native->lpVtbl->GetResults(call->native, part, room);
        nd_wine_leave();
        if (got)
            memcpy(call->$name + call->result, part, got * sizeof(*part));
        call->result += got;
    } while (got == ND_WINE_RESULTS && call->result < call->$room);
    return 0;
}
TEXT
}

sub unix_method {
    my ($interface, $method) = @_;
    my ($returns, $name, $parameters) = @$method;
    my $call = "${interface}_${name}";
    my $overlapped = grep { $_->[2] eq 'overlapped' } @$parameters;
    my $delivers = $name =~ /^Cancel/ || $overlapped;
    my (@before, @after, @arguments);

    return get_results($call, $parameters->[0], $parameters->[1][1]) if $name eq 'GetResults';
    for my $n (0 .. $#$parameters) {
        my $next = $n < $#$parameters ? $parameters->[$n + 1][1] : '';
        my ($first, $argument, $last) =
            crossing($parameters->[$n]->@*, $next, $overlapped && $name ne 'GetOverlappedResult');
        push @before, @$first;
        push @arguments, $argument;
        unshift @after, @$last;
    }
    push @before, inline_data($name, $parameters);
    print "\nstatic int32_t ${call}_(void *args)\n{\n    struct ${call}_call *call = args;\n";
    print "    $_\n" for @before;
    print "\n    nd_wine_enter();\n    " . ($returns eq 'VOID' ? '' : 'call->result = ');
    print "call->native->lpVtbl->$name(" . join(', ', 'call->native', @arguments) . ");\n";
    print "    nd_wine_leave" . ($delivers ? '_delivered' : '') . "();\n";
    print "    $_\n" for @after;
    print "    return 0;\n}\n";
}

sub unix {
    print qq(#include "wine/unix.h"\n);
    for my $i (objects()) { unix_method($i->[0], $_) for @{$i->[1]} }
    print "\n__attribute__((visibility(\"default\"))) nd_wine_call *const __wine_unix_call_funcs[ND_CALLS] = {\n    ND_CALL_FUNCTIONS_BY_HAND\n";
    for my $i (objects()) { print "    [ND_CALL_$i->[0]_$_->[1]] = $i->[0]_$_->[1]_,\n" for @{$i->[1]} }
    print "};\n";
}

print "/* SPDX-License-Identifier: MIT */\n/* Generated by forward.pl from ndspi.h. */\n";
{ no strict 'refs'; &{"main::$what"}(); }
