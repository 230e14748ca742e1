# SPDX-License-Identifier: MIT
# Makes pages of what headers declare: for each interface, method, function, callback, structure and header one.
#
#   pages_of(HEADERS, WANTED)   of the headers (Headers.pm) whose file names are in WANTED; the others explain codes
#
# A page is { name, kind, file, group, brief, synopsis => [...], parts => [[TITLE, BLOCK...]...], see => [...],
# aliases => [...], order, methods => [...] }: group is the page that has it in its list, order that of the headers; of
# methods the interface has it. Blocks are [p => TEXT], [list => [TAG, TEXT]...] and [code => TEXT]. In texts
# <<name(3)>> stands for another page. A synopsis has [function => RESULT, NAME, PARAMETERS] and [code => TEXT].
package Pages;
use strict;
use warnings;
use Exporter 'import';
use Comments qw(parse_comment capital);
use Codes qw(learn_codes learn_common value_blocks error_blocks);
our @EXPORT_OK = qw(pages_of);

my (%page, %interface, %mentions); # by name

sub parameter_names { return [map { /(\w+)(?:\[\])?$/ ? $1 : () } @{ $_[0] }]; }

# The first sentence, as a title has it.
sub title_of {
    my ($brief) = @_;
    return $brief =~ s/^([A-Z])(?=[a-z ])/lc $1/er;
}

# Blocks of a comment as those of a page.
sub description {
    my ($parsed) = @_;
    my @blocks;
    for my $block (@{ $parsed->{blocks} }) {
        my ($kind, @rest) = @$block;
        push @blocks, $kind eq 'p' ? [p => $rest[0]]
            : [list => map { ref $_ ? [@$_] : ['', $_] } @rest];
    }
    return @blocks;
}

sub add {
    my ($item, %more) = @_;
    my $page = { kind => $item->{kind}, file => $item->{file}, aliases => [], order => scalar keys %page, %more };
    die "two pages are called $page->{name}\n" if $page{ $page->{name} };
    return $page{ $page->{name} } = $page;
}

# ---- interfaces ----

# The method that one corresponds to: which its comment names ("See X::Y."), or of version 1 the same of version 2.
sub counterpart {
    my ($interface, $method, $parsed) = @_;
    return $1 if ($parsed->{brief} // '') =~ /^See (\w+::\w+)$/;
    my %renamed = (INDEndpoint => 'IND2QueuePair', INDListen => 'IND2Listener');
    my $newer = $renamed{$interface} // $interface =~ s/^IND(?!2)/IND2/r;
    return if $newer eq $interface || !$interface{$newer};
    return grep({ $_->{name} eq $method } @{ $interface{$newer}{methods} }) ? "${newer}::$method" : undef;
}

sub method_marks {
    my ($method, $parsed) = @_;
    my %marks = %{ $parsed->{marks} };
    my $parameters = join ' ', @{ $method->{parameters} };
    $marks{makes} = 1 if $method->{name} =~ /^(?:Create|OpenAdapter$|Listen$)/ && $parameters =~ /\*\*|HANDLE \*/;
    $marks{requests} = 1 if $parameters =~ /^(?:VOID \*requestContext|ND_RESULT \*pResult\b)/;
    return \%marks;
}

# What the interface's comment says of parameters of all requests: "sge and nSge (in: local memory)".
sub common_parameters {
    my ($interface, $method) = @_;
    my %has = map { $_ => 1 } @{ parameter_names($method->{parameters}) };
    my $text = join ' ', @{ $interface->{comment} };
    my @rows;
    while ($text =~ /(\w+(?:(?:, | and )\w+)*) \((in|out): ([^)]*)\)/g) {
        my ($names, $way, $what) = ($1, $2, $3);
        my @names = grep { $has{$_} } split /, | and /, $names;
        push @rows, [join(', ', @names), "$way: $what"] if @names;
    }
    return @rows ? [list => @rows] : ();
}

# Returns the page; nothing if the one of the method that it corresponds to has to be made first.
sub method_page {
    my ($interface, $method) = @_;
    my $name = "$interface->{name}::$method->{name}";
    my $parsed = parse_comment($method->{comment}, parameter_names($method->{parameters}));
    my $model = counterpart($interface->{name}, $method->{name}, $parsed);
    my $own = $parsed->{brief};
    my @blocks = description($parsed);

    $own = undef if defined $own && $own =~ /^See \w+::\w+$/;
    if ($model) {
        unshift @blocks, [p => capital("$own.")] if defined $own;
        $own = ($page{$model} // return)->{brief};
        my $version = $interface->{name} =~ /^IND2/ ? '' : ', of version 2';
        push @blocks, [p => "For the rest see <<$model(3)>>$version."];
    }
    die "$name: its comment does not say what it does\n" unless defined $own;
    my $marks = method_marks($method, $parsed);
    push @blocks, common_parameters($interface, $method) if $marks->{requests} && !$model;
    unshift @blocks, [p => capital("$own.")
        . ($parsed->{marks}{overlapped} ? ' It is an overlapped request, which ends by its OVERLAPPED.' : '')];
    my %call = (name => $name, result => $method->{result}, parameters => $method->{parameters}, model => $model,
        marks => $marks, returns => $parsed->{returns}, brief => $own, interface => $interface->{name});
    push @blocks, [p => 'The length is the room on entry, and the size used or needed on return; with a NULL buffer '
        . 'the call asks for the size.'] if $parsed->{marks}{size_query};
    add($interface, name => $name, kind => 'method', group => $interface->{name}, brief => title_of($own),
        synopsis => [[function => $method->{result}, $name, $method->{parameters}]],
        parts => [['DESCRIPTION', @blocks],
            ['RETURN VALUE', value_blocks(\%call)], ['ERRORS', error_blocks(\%call)]],
        see => [$interface->{name}]);
}

# Methods of the interface that this one is derived from are found under its name, too.
sub inherit {
    my ($interface) = @_;
    for (my $base = $interface{ $interface->{base} }; $base; $base = $interface{ $base->{base} }) {
        for my $method (@{ $base->{methods} }) {
            push @{ $page{"$base->{name}::$method->{name}"}{aliases} }, "$interface->{name}::$method->{name}";
        }
    }
}

sub interface_page {
    my ($interface) = @_;
    my $name = $interface->{name};
    my $parsed = parse_comment($interface->{comment}, []);
    my $base = $interface->{base};
    my $base_name = $interface{$base} ? "<<$base(3)>>" : $base;
    my @methods = map { "${name}::$_->{name}" } @{ $interface->{methods} };

    learn_common($name, map { $_->[1] } grep { $_->[0] eq 'p' } @{ $parsed->{blocks} });
    add($interface, name => $name, group => $interface->{file}, brief => title_of($parsed->{brief}),
        synopsis => [map { [function => $_->{result}, "${name}::$_->{name}", $_->{parameters}] }
            @{ $interface->{methods} }],
        parts => [['DESCRIPTION', description($parsed), [p => "The methods of $base_name come before its own."]]],
        see => [$interface->{file}], methods => \@methods);
}

sub list_methods {
    my ($page) = @_;
    return unless @{ $page->{methods} };
    push @{ $page->{parts} },
        ['METHODS', [list => map { ["<<$_(3)>>", capital($page{$_}{brief}) . '.'] } @{ $page->{methods} }]];
}

# ---- functions, structures ----

# In libibverbs or librdmacm: srd_create_qp is ibv_create_qp, srd_create_id_qp is rdma_create_qp.
sub verbs_counterpart {
    my ($function) = @_;
    return unless $function->{file} eq 'softrdma.h';
    my $rest = $function->{name} =~ s/^srd_//r =~ s/_id_(?=s?rq|qp)/_/r;
    return ($function->{section} eq 'connection manager' ? 'rdma_' : 'ibv_') . $rest;
}

# A type of functions of NDKPI. Its comment may say "as NDK_FN_OTHER". What holds for all of them is said on the page of
# the header.
sub ndk_page {
    my ($function) = @_;
    my $parsed = parse_comment($function->{comment}, parameter_names($function->{parameters}));
    my $parameters = join ' ', @{ $function->{parameters} };
    my $text = join ' ', @{ $function->{comment} };
    my ($model) = $text =~ /\b[Aa]s (?:of )?(NDK_FN_\w+)/;
    my $marks = $parsed->{marks};
    my @blocks = ([p => capital("$parsed->{brief}.")], description($parsed));

    $marks->{size_query} = 1 if $text =~ /\bsize query\b/;
    $marks->{requests} = 1 if $parameters =~ /^\w+ \*\w+ PVOID RequestContext\b/;
    push @blocks, common_parameters({ comment => $function->{part} }, $function) if $marks->{requests};
    push @blocks, [p => 'It is to be called at PASSIVE_LEVEL.'] if $marks->{passive};
    push @blocks, [p => $marks->{optional} ? 'RequestCompletion may be NULL if it ends without it.'
        : 'It may end later, by its callback.'] if $marks->{creates} || $marks->{request};
    push @blocks, [p => 'The length is the room on entry, and the size used or needed on return.']
        if $marks->{size_query};
    my %call = (%$function, marks => $marks, returns => $parsed->{returns}, brief => $parsed->{brief},
        model => $model, interface => 'ndkpi.h');
    add($function, name => $function->{name}, group => $function->{file}, brief => title_of($parsed->{brief}),
        synopsis => [[code => $function->{text}]], see => [$function->{file}, 'ndkpi.h'],
        parts => [['DESCRIPTION', @blocks],
            ['RETURN VALUE', value_blocks(\%call)], ['ERRORS', error_blocks(\%call)]]);
}

# The functions of a table are found under their names: the first of each name, of those that several tables have.
sub name_functions {
    my %named;
    for my $table (@_) {
        for my $member (@{ $table->{members} }) {
            my ($type, $name) = ($member->[0] // '') =~ /^((?:NDK_FN|PFN_WSK)_\w+) (\w+)$/ or next;
            push @{ $page{$type}{aliases} }, $name unless $named{$name}++;
        }
    }
}

sub function_page {
    my ($function) = @_;
    my $name = $function->{name};
    my $parsed = parse_comment($function->{comment}, parameter_names($function->{parameters}));
    my @blocks = description($parsed);
    my $brief = $parsed->{brief};
    my %call = (%$function, marks => $parsed->{marks}, returns => $parsed->{returns});
    my ($external, @own);

    if (defined $brief && $brief =~ s/^\Q$name\E - //) {
        @own = ([p => capital("$brief.")]);
    } elsif ($external = verbs_counterpart($function)) {
        @own = ([p => "It does on softrdma, the embedded device, what $external does on a device of the kernel: with "
            . 'the same parameters and results, but with objects of softrdma alone.']);
        push @own, [p => capital("$brief.")] if defined $brief;
        $brief = "$external of the embedded device";
        $external = { ibv_qp_to_qp_ex => 'ibv_create_qp_ex', rdma_create_qp_ex => 'rdma_create_qp' }->{$external}
            // $external; # where rdma-core documents it
        $call{external} = $external;
    } else {
        die "$name: no comment \"$name - what it does\"\n";
    }
    $call{brief} = $brief;
    push @blocks, [p => 'It is to be called at PASSIVE_LEVEL.'] if $parsed->{marks}{passive};
    add($function, name => $name, group => $function->{file}, brief => title_of($brief),
        synopsis => [[function => $function->{result}, $name, $function->{parameters}]],
        parts => [['DESCRIPTION', @own, @blocks],
            ['RETURN VALUE', value_blocks(\%call)], ['ERRORS', error_blocks(\%call)]],
        see => [$external // (), $function->{file}]);
}

# The declaration without its comments.
sub bare {
    my ($text) = @_;
    $text =~ s{\s*/\*.*?\*/}{}gs;
    $text =~ s/^\s*\n//gm;
    return $text =~ s/(?<=\w)\n\s+(?=\*?\w+(?:\[\w+\])?;)/ /gr;
}

sub structure_page {
    my ($structure) = @_;
    my $parsed = parse_comment($structure->{comment}, []);
    my @blocks = description($parsed);
    my $list;

    die "$structure->{name} has no comment\n" unless defined $parsed->{brief};
    for my $member (@{ $structure->{members} }) {
        my ($declaration, $text) = @$member;
        if (!defined $declaration) {
            push @blocks, [p => capital($text)];
            undef $list;
            next;
        }
        push @blocks, $list = ['list'] unless $list;
        push @$list, [$declaration, $text eq '' ? '' : capital($text) . '.'];
    }
    add($structure, name => $structure->{name}, group => $structure->{file}, brief => title_of($parsed->{brief}),
        synopsis => [[code => bare($structure->{text})]], see => [$structure->{file}],
        parts => [['DESCRIPTION', [p => capital("$parsed->{brief}.")], @blocks]]);
}

# A pointer to a function without a comment stands in the synopsis of those that take it.
sub show_callbacks {
    my ($callbacks) = @_;
    for my $page (grep { $_->{kind} eq 'function' } values %page) {
        my $parameters = join ' ', @{ $page->{synopsis}[0][3] };
        my @taken = grep { $parameters =~ /\b$_\b/ } sort keys %$callbacks;
        unshift @{ $page->{synopsis} }, map { [code => $callbacks->{$_}] } @taken;
    }
}

# ---- headers ----

sub constants_part {
    my ($item) = @_;
    my $parsed = parse_comment($item->{comment}, []);
    my @blocks = defined $parsed->{brief} ? ([p => capital("$parsed->{brief}.")], description($parsed)) : ();
    @blocks = () if ($parsed->{brief} // '') =~ /^\w+\.h - /;
    my $value = sub { return defined $_[0] ? ' = ' . ($_[0] =~ s/^\(\(\w+\)(0x\w+?)[Uu]?\)$/$1/r) : ''; };
    my @members = grep { defined $_->[0] && $_->[0] !~ /^\w+_API$/ } @{ $item->{members} };
    return @blocks, [list => map { [$_->[0] . $value->($_->[2]), capital($_->[1])] } @members];
}

sub header_page {
    my ($header) = @_;
    my $file = $header->{file};
    my $parsed = parse_comment($header->{preface}, []);
    my @parts = (['DESCRIPTION', description($parsed)]);
    my $brief = $parsed->{brief} =~ s/^\S+ - //r;

    for my $kind (qw(interface function callback structure)) {
        my @names = map { $_->{name} } grep { ($_->{kind} =~ s/enum/structure/r) eq $kind } @{ $header->{items} };
        my @rows = map { ["<<$_(3)>>", capital($page{$_}{brief}) . '.'] } grep { $page{$_} } @names;
        push @parts, [uc($kind) . 'S', [list => @rows]] if @rows;
    }
    my @constants = map { constants_part($_) } grep { $_->{kind} eq 'constants' } @{ $header->{items} };
    @constants = grep { $_->[0] eq 'p' || @$_ > 1 } @constants;
    push @parts, ['CONSTANTS', @constants] if @constants;
    for my $part (grep { @$_ > 1 } @{ $header->{parts} // [] }) {
        my ($title, @lines) = @$part;
        push @parts, [uc($title =~ s/:.*//r), description(parse_comment(\@lines, [], 1))];
    }
    $parts[0] = ['DESCRIPTION', [p => capital("$brief.")]] unless @{ $parts[0] } > 1;
    add({ kind => 'header', file => $file }, name => $file, group => '', brief => $brief, synopsis => [],
        parts => \@parts, see => []);
}

# ---- what refers to what ----

sub texts_of {
    my ($page) = @_;
    my @blocks = map { my ($title, @own) = @$_; @own } @{ $page->{parts} };
    return join ' ', map { my ($kind, @rest) = @$_; map { ref $_ ? @$_ : $_ } @rest } @blocks;
}

sub see_also {
    my ($page) = @_;
    my $text = texts_of($page);
    my @synopsis = @{ $page->{synopsis} };
    my $types = join ' ', map { $_->[0] eq 'function' ? ($_->[1], @{ $_->[3] }) : $_->[1] } @synopsis;
    my %listed = map { $_ => 1 } $text =~ /<<([\w:.]+)\(3\)>>/g; # of an index page
    my %see = map { $_ => 1 } @{ $page->{see} };

    if ($page->{kind} ne 'header') {
        my @words = ($text =~ /\w+::\w+|\w+/g, $types =~ /\w+/g);
        $see{$_} = 1 for grep { $page{$_} && $page{$_}{kind} ne 'header' } @words;
        $see{'ndstatus.h'} = 1 if $text =~ /\bND_[A-Z]+/ && $page{'ndstatus.h'} && $page->{kind} ne 'structure';
        delete @see{ keys %listed } if $page->{kind} eq 'interface';
    }
    delete $see{ $page->{name} };
    $page->{see} = [sort keys %see];
    $mentions{$_}{ $page->{name} } = 1 for keys %see;
}

sub pages_of {
    my ($headers, $wanted) = @_;
    my (@items, %callbacks, %alias);
    (%page, %interface, %mentions) = ();
    learn_codes(@$headers);
    for my $header (grep { $wanted->{ $_->{file} } } @$headers) {
        my $parsed = parse_comment($header->{preface}, []);
        learn_common($header->{file}, map { my ($kind, @rest) = @$_; @rest } @{ $parsed->{blocks} });
        learn_common($header->{file}, join ' ', @$_) for @{ $header->{parts} // [] };
        push @items, @{ $header->{items} };
    }
    $interface{ $_->{name} } = $_ for grep { $_->{kind} eq 'interface' } @items;
    interface_page($_) for grep { $_->{kind} eq 'interface' } @items;
    my @methods = map { my $interface = $_; map { [$interface, $_] } @{ $interface->{methods} } } values %interface;
    while (@methods) {
        my @left = grep { !method_page(@$_) } @methods;
        die "$left[0][0]{name}::$left[0][1]{name} is like a method that there is not\n" if @left == @methods;
        @methods = @left;
    }
    inherit($_) for values %interface;
    for my $item (@items) {
        if ($item->{kind} eq 'callback' && !@{ $item->{comment} }) {
            $callbacks{ $item->{name} } = $item->{text};
        } elsif ($item->{kind} eq 'callback') {
            ndk_page($item);
        } elsif ($item->{kind} eq 'function') {
            function_page($item);
        } elsif ($item->{kind} =~ /^(?:structure|enum)$/) {
            structure_page($item);
        } elsif ($item->{kind} eq 'alias') {
            $alias{ $item->{name} } = $item->{of};
        }
    }
    name_functions(grep { $_->{kind} eq 'structure' } @items);
    push @{ $page{ $alias{$_} }{aliases} }, $_ for grep { $page{ $alias{$_} } } sort keys %alias;
    show_callbacks(\%callbacks);
    list_methods($_) for grep { $_->{kind} eq 'interface' } values %page;
    header_page($_) for grep { $wanted->{ $_->{file} } } @$headers;
    see_also($_) for sort { $a->{name} cmp $b->{name} } values %page;
    for my $page (grep { $_->{kind} =~ /^(?:structure|enum)$/ } values %page) {
        my %see = map { $_ => 1 } @{ $page->{see} }, keys %{ $mentions{ $page->{name} } // {} };
        $page->{see} = [sort keys %see];
    }
    return map { $page{$_} } sort keys %page;
}

1;
