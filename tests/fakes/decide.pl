#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# decide.pl SOCKET WORKDIR TASK: a program on the generated client: submits, follows the run, reads its findings,
# approves the hold, and prints what it saw as JSON.
use strict;
use warnings;
use FindBin;
use IO::Socket::UNIX;
use JSON::PP;
use lib "$FindBin::Bin/../../docs/clients";
use Rld;

$SIG{PIPE} = 'IGNORE';
my ($path, $workdir, $task) = @ARGV;
my $json = JSON::PP->new->utf8->canonical;
my ($socket, $followed, @events);
my $number = 0;

# A message; undef: the connection broke.
sub receive {
    my $line = <$socket>;
    if (!defined $line || $line !~ /\n\z/) {
        undef $socket;
        return undef;
    }
    my $message = $json->decode($line);
    push @events, $message->{params} if ($message->{method} // '') eq 'event';
    return $message;
}

# Repeated over a broken connection; what it does here may be repeated.
sub call {
    my ($method, $params) = @_;
    while (1) {
        $socket //= IO::Socket::UNIX->new(Peer => $path);
        if (!$socket) {
            select undef, undef, undef, 0.05;
            next;
        }
        my $id = ++$number;
        print {$socket} $json->encode({ jsonrpc => '2.0', id => $id, method => $method, params => $params }), "\n";
        $socket->flush;
        while (my $message = receive()) {
            next unless ($message->{id} // 0) == $id;
            die "$message->{error}{message}\n" if $message->{error};
            return $message->{result};
        }
    }
}

my $rld = Rld->new(\&call);

# Events after since, until the run is in one of the states. One subscription a connection.
sub follow {
    my ($run, $since, @states) = @_;
    my %wanted = map { $_ => 1 } @states;
    while (1) {
        if (!$socket || !$followed || $followed != $socket) {
            $rld->event_subscribe(run => $run, since => @events ? $events[-1]{seq} : $since);
            $followed = $socket;
        }
        do {
            for my $event (@events) {
                return $event->{state} if $event->{type} eq 'run.state' && $wanted{ $event->{state} };
            }
        } while (receive());
    }
}

my $made = $rld->run_submit(
    task => $task, workdir => $workdir, key => "perl-$$-" . time,
    environment => { PATH => $ENV{PATH}, HOME => $ENV{HOME} },
    review => { enabled => JSON::PP::true, max_fixes => 0, on_exhausted => 'hold' });
follow($made->{id}, $made->{seq}, 'held');
my @findings = map { $_->{text} } @{ $rld->finding_list(run => $made->{id})->{open} };
for my $hold (@{ $rld->hold_list(run => $made->{id}, state => 'open')->{holds} }) {
    $rld->hold_approve(id => $hold->{id}, message => 'as agreed');
}
my $state = follow($made->{id}, $made->{seq}, 'succeeded', 'failed', 'cancelled');
print $json->encode({ state => $state, findings => \@findings, events => [ map { $_->{seq} } @events ] }), "\n";
