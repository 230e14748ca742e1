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
our @EXPORT_OK = qw(public_headers public_pages);

sub public_headers {
    return (map({ "ndspi/include/$_.h" } qw(ndstatus nddef ndspi ndsupport ndprovider ndspi_counters ndspi_linux)),
        'compat/include/winobj_linux.h', map({ "ndk/include/$_.h" } qw(ndkl ndkinfo ndkpi wskndk)),
        'softrdma/softrdma.h');
}

sub public_pages {
    my ($root) = @_;
    my @headers = map { read_header("$root/$_") } public_headers();
    return pages_of(\@headers, { map { $_->{file} => 1 } @headers });
}

1;
