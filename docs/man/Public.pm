# SPDX-License-Identifier: MIT
# The public headers that have pages.
#
#   public_headers()          their paths in the tree
#   public_pages(ROOT)        the pages (Pages.pm) of the tree at ROOT
package Public;
use strict;
use warnings;
use Exporter 'import';
use Headers qw(read_header);
use Pages qw(pages_of);
our @EXPORT_OK = qw(public_headers public_pages site_pages);

sub public_headers {
    return (map({ "ndspi/include/$_.h" } qw(ndstatus nddef ndspi ndsupport ndprovider ndspi_counters ndspi_linux)),
        'compat/include/winobj_linux.h', 'ndk/include/ndkl.h', 'softrdma/softrdma.h');
}

sub pages_below {
    my ($root, @paths) = @_;
    my @headers = map { read_header("$root/$_") } @paths;
    return pages_of(\@headers, { map { $_->{file} => 1 } @headers });
}

sub public_pages { return pages_below($_[0], public_headers()); }

# With those of NDKPI, whose tables of functions have no manual pages.
sub site_pages {
    return pages_below($_[0], public_headers(), map { "ndk/include/$_.h" } qw(ndkinfo ndkpi wskndk));
}

1;
