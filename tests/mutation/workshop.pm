# SPDX-License-Identifier: MIT
# workshop.pm - a copy of the tree that changes are made in, its builds, and runs of its tests.
package workshop;
use strict;
use warnings;
use Exporter qw(import);
use Fcntl qw(:flock);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use POSIX qw(WNOHANG);
our @EXPORT_OK = qw(stop contents store source_files lines_of commands_of);

my $running; # the process group of a build or of tests

sub stop { print STDERR "mutate: $_[0]\n"; exit 2 }

sub contents {
    my ($file) = @_;
    open my $in, '<:raw', $file or return;
    local $/;
    return scalar <$in>;
}

sub store {
    my ($file, $text) = @_;
    open my $out, '>:raw', $file or stop("$file: $!");
    print $out $text;
    close $out or stop("$file: $!");
}

# Of the tree in root, in the folder work: { tree, work, jobs, limit_s, suite: preset -> test -> { targets, seconds } }.
# limit_s is what tests of a change may take, beside ten times what they take unchanged.
sub new {
    my ($class, %self) = @_;
    my $self = bless {%self, suite => {}}, $class;
    make_path("$self->{work}/log", "$self->{work}/noticed");
    $self->{work} = Cwd::abs_path($self->{work});
    $self->{tree} = "$self->{work}/tree";
    open $self->{lock}, '>', "$self->{work}/lock" or stop("$self->{work}/lock: $!");
    flock $self->{lock}, LOCK_EX | LOCK_NB or stop("$self->{work} is in use");
    $SIG{$_} = sub { kill 'KILL', -$running if $running; exit 2 } for qw(INT TERM HUP);
    $ENV{NDSPI_DEVICE} //= 'soft';
    $ENV{LC_ALL} = 'C';
    $self->copy_tree;
    return $self;
}

# What belongs to the tree: all that git does not ignore; without git all but build/.
sub source_files {
    my ($root) = @_;
    my $command = -e "$root/.git" ? "git -C '$root' ls-files -z -co --exclude-standard"
        : "cd '$root' && find . -path ./build -prune -o '(' -type f -o -type l ')' -printf '%P\\0'";
    my @files = grep { length && (-f "$root/$_" || -l "$root/$_") } split /\0/, `$command`;
    stop("no files found in $root") if $? || !@files;
    return @files;
}

# Brings the copy up to date; what is the same there is not written, so that it is not built again.
sub copy_tree {
    my ($self) = @_;
    my ($root, $tree) = @$self{qw(root tree)};
    my %wanted = map { $_ => 1 } source_files($root);
    my $found = "find . -path ./build -prune -o '(' -type f -o -type l ')' -printf '%P\\0'";
    make_path($tree);
    for my $file (split /\0/, `cd '$tree' && $found`) {
        unlink "$tree/$file" if length $file && !$wanted{$file};
    }
    for my $file (keys %wanted) {
        make_path(dirname("$tree/$file"));
        if (-l "$root/$file") {
            my $to = readlink "$root/$file";
            next if -l "$tree/$file" && readlink("$tree/$file") eq $to;
            unlink "$tree/$file";
            symlink $to, "$tree/$file" or stop("$tree/$file: $!");
            next;
        }
        my ($text, $there) = (contents("$root/$file"), contents("$tree/$file"));
        store("$tree/$file", $text) unless defined $there && $there eq $text;
        chmod((stat "$root/$file")[2] & 07777, "$tree/$file");
    }
}

# Runs a command, output appended to the log. Returns (status, seconds); status is undef where time was up.
sub run {
    my ($log, $limit, @command) = @_;
    my $begin = time;
    $running = fork // stop("fork: $!");
    if (!$running) {
        setpgrp;
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', $log;
        open STDERR, '>&', \*STDOUT;
        exec @command or POSIX::_exit(127);
    }
    my ($status, $late);
    until (waitpid($running, WNOHANG) == $running && defined($status = $?)) {
        if ($limit && time - $begin > $limit) {
            $late = 1;
            kill 'KILL', -$running;
        }
        select undef, undef, undef, 0.05;
    }
    kill 'KILL', -$running; # processes that a test left behind
    undef $running;
    return ($late ? undef : $status, time - $begin);
}

# The tests of a build folder, built or not: name => [word of its command...].
sub commands_of {
    my ($build) = @_;
    my %words;
    for (`find '$build' -name CTestTestfile.cmake -exec cat {} +`) {
        my ($test, $command) = /^add_test\((?:\[=*\[)?([^]\s]+)(?:\]=*\])? (.*)\)/ or next;
        $words{$test} = [$command =~ /"([^"]*)"/g];
    }
    return %words;
}

sub build_of { return "$_[0]{tree}/build/$_[1]" }

# The tests of a preset, what has to be built for each, and the sources of that: suite, sources.
sub configure {
    my ($self, $preset) = @_;
    my $build = $self->build_of($preset);
    my $log = "$self->{work}/log/configure.$preset";
    unlink $log;
    my ($status) = run($log, 0, 'sh', '-c', 'cd "$1" && cmake --preset "$2" -DNDSPI_WERROR=OFF', 'sh', $self->{tree},
        $preset);
    stop("configuring $preset failed: $log") if $status;
    my (%target, %sources);
    for (`ninja -C '$build' -t targets all`) {
        my ($name) = /^(.+?): / or next;
        $target{"$build/$name"} = $name;
        next unless $name =~ m{^(.+)/CMakeFiles/(\w+)\.dir/([^/].*)\.o$};
        push @{$sources{$2}}, "$1/$3";
        push @{$self->{objects}{$preset}{"$1/$3"}}, "$build/$name";
    }
    my %words = commands_of($build);
    while (my ($test, $words) = each %words) {
        my @targets = grep { defined } map { $target{$_} } @$words;
        my @programs = map { m{([^/]+)$} } @targets;
        $self->{suite}{$preset}{$test} = { targets => \@targets, sources => [map { @{$sources{$_} // []} } @programs] };
    }
}

# The tests whose whole name a regular expression matches.
sub tests {
    my ($self, $preset, $names) = @_;
    return grep { /^(?:$names)$/ } sort keys %{$self->{suite}{$preset}};
}

# More than the targets that tests need can be named. False: it does not build.
sub build {
    my ($self, $preset, $log, $tests, @more) = @_;
    my %once = map { $_ => 1 } @more, map { @{$self->{suite}{$preset}{$_}{targets}} } @$tests;
    return 1 unless %once;
    my ($status) = run($log, 0, 'ninja', '-C', $self->build_of($preset), "-j$self->{jobs}", sort keys %once);
    return $status == 0;
}

# Returns what `run` does; @more are further arguments of ctest.
sub ctest {
    my ($self, $preset, $log, $limit, $tests, @more) = @_;
    push @more, '-j', $self->{jobs} if @$tests > 4;
    push @more, '-R', '^(' . join('|', map { quotemeta } @$tests) . ')$' if @$tests;
    return run($log, $limit, 'ctest', '--test-dir', $self->build_of($preset), '--output-on-failure', @more);
}

# Without a change everything passes; how long it takes says how long a changed one may.
sub run_unchanged {
    my ($self, $preset, $tests, @more) = @_;
    my $log = "$self->{work}/log/unchanged.$preset";
    unlink $log;
    print "without a change, $preset: ", scalar(@$tests), " suites\n";
    $self->build($preset, $log, $tests, @more) or stop("the build without a change failed: $log");
    my ($status) = $self->ctest($preset, $log, 0, $tests);
    ($status) = $self->ctest($preset, $log, 0, [], '--rerun-failed') if $status; # a busy machine
    stop("tests fail without a change: $log") if $status;
    for (split /\n/, contents($log)) {
        $self->{suite}{$preset}{$1}{seconds} = $2 if /Test +#\d+: (\S+) \.*.* +([\d.]+) sec/;
    }
}

# Object files of a source, for a header all, that were built since it was written.
sub objects_of {
    my ($self, $preset, $file) = @_;
    my $of = $self->{objects}{$preset};
    my @objects = grep { -e } map { @$_ } $file =~ /\.h$/ ? values %$of : $of->{$file} // [] or return;
    return split /\0/, `find @{[map { "'$_'" } @objects]} -newer '$self->{tree}/$file' -print0`;
}

# What an object file has beside what a debugger wants.
sub code_of {
    my ($self, $object) = @_;
    return `strip -g -o '$self->{work}/object' '$object' && sha1sum < '$self->{work}/object'`;
}

# Notes the code of files as it is without a change, where it has just been built.
sub note_code {
    my ($self, $preset, @files) = @_;
    for my $object (map { $self->objects_of($preset, $_) } @files) {
        $self->{code}{$object} //= $self->code_of($object);
    }
}

# Whether a file that was built after it was changed has the code that was noted.
sub is_same_code {
    my ($self, $preset, $file) = @_;
    my @built = $self->objects_of($preset, $file);
    return @built && !grep { ($self->{code}{$_} // '') ne $self->code_of($_) } @built;
}

# What becomes of a changed file: 'noticed' and the test that did; 'NOT NOTICED' or 'does not build' and the log; 'same
# code', if its code was noted and is compiled to the same.
# The copy has the file as it was afterwards.
sub try_text {
    my ($self, $file, $text, $log, $preset, $tests, @more) = @_;
    my $original = contents("$self->{tree}/$file");
    unlink $log;
    store("$self->{tree}/$file", $text);
    my @result = $self->run_changed($log, $file, $preset, $tests, @more);
    store("$self->{tree}/$file", $original);
    return @result;
}

sub run_changed {
    my ($self, $log, $file, $preset, $tests, @more) = @_;
    $self->build($preset, $log, $tests, @more) or return ('does not build', $log);
    return ('same code', $log) if $self->is_same_code($preset, $file);
    my $limit = $self->{limit_s};
    $limit += 10 * ($self->{suite}{$preset}{$_}{seconds} // 0) for @$tests;
    my ($status) = $self->ctest($preset, $log, $limit, $tests, '--stop-on-failure');
    return ('noticed', "stands still") unless defined $status;
    return ('NOT NOTICED', $log) if $status == 0;
    my ($test) = contents($log) =~ /^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|.*)\)/m;
    return ('noticed', $test // "status $status");
}

# The lines that differ from a commit: file => [[from, to]...], empty where lines are only gone.
sub lines_of {
    my ($root, $since) = @_;
    my (%lines, $file);
    for (`git -C '$root' diff --no-color --no-ext-diff --src-prefix=a/ --dst-prefix=b/ -U0 '$since' --`) {
        $lines{$file = $1} //= [] if m{^\+\+\+ b/(.*?)\t?$};
        push @{$lines{$file}}, [$1, $1 + ($2 // 1) - 1] if /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/ && ($2 // 1);
    }
    stop("git does not know what differs from $since") if $?;
    $lines{$_} = [[1, 1e9]] for grep { length } split /\0/, `git -C '$root' ls-files -z -o --exclude-standard`;
    return %lines;
}

1;
