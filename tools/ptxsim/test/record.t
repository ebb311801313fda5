#!/usr/bin/env perl
# The record of a block (tools/ptxsim/report) against the counters of the run, for every stage: its
# steps and requests, added up here, are the counters of the block to the unit, and the blocks of a
# launch together are those that the harness prints. Catches: a step or a request that is missing or
# recorded twice, a footprint with the wrong cost, wavefronts or sectors that do not add up.
use strict;
use warnings;
use Cwd qw(abs_path);
use File::Basename;
use File::Temp qw(tempdir);
use JSON::PP;

chdir dirname(abs_path(__FILE__)) . '/../../..' or die;
my $program = 'build/attention-sim';
my $scratch = tempdir(CLEANUP => 1);
my $count   = 0;

sub result {
    my ($good, $what, @why) = @_;
    $count++;
    print $good ? '' : 'not ', "ok $count - $what\n";
    print map { "# $_\n" } @why[0 .. ($#why < 9 ? $#why : 9)] unless $good;
}

my @folders = grep { -e "$_/d128_fp16_full.so" } split ' ',
    $ENV{STAGE_DIRS} || join ' ', glob 'build/sm_80/0*_* build/sm_80/1*_* build/sm_90a/1*_*';
@folders = grep { -e 'stages/' . basename($_) . '/kernel.cu' } @folders;
if (!-x $program || !@folders) {
    print "1..0 # SKIP needs $program and the kernels that make builds\n";
    exit 0;
}

# What the harness printed, and the record if a block is given.
sub run_stage {
    my ($folder, $block, %variables) = @_;
    local $ENV{SIM_RECORD} = defined $block ? "$scratch/record.json" : '';
    local $ENV{SIM_BLOCK}  = $block // '';
    unlink "$scratch/record.json";
    my $arguments = join ' ', map { "$_=$variables{$_}" } sort keys %variables;
    my $line = `$program run DEVICE=sim FORMAT=json $arguments $folder 2>$scratch/log`;
    my $run  = $line =~ /^\{/ ? decode_json($line) : {};
    return $run unless defined $block && open my $file, '<', "$scratch/record.json";
    local $/;
    return ($run, decode_json(<$file>));
}

my @fields = qw(executions lanes divergent requests units ideal second second_ideal);

sub lanes_of { my ($mask) = @_; return unpack '%32b*', pack 'l', $mask; }

# The counters of each instruction, from the steps and requests of one block.
sub add_up {
    my ($launch) = @_;
    my @sum = map { [(0) x @fields] } @{ $launch->{ops} };
    my %class;
    $class{ $launch->{classes}[$_] } = $_ for 0 .. $#{ $launch->{classes} };
    for my $warp (@{ $launch->{warps} }) {
        my @op;
        my @runs = @{ $warp->{runs} };
        while (my ($first, $steps, $mask) = splice @runs, 0, 4) {
            for my $op ($first .. $first + $steps - 1) {
                push @op, $op;
                $sum[$op][0]++;
                $sum[$op][1] += lanes_of($mask);
            }
        }
        die "a warp has $warp->{steps} steps, its runs " . @op if @op != $warp->{steps};
        $sum[$op[$_]][2]++ for @{ $warp->{divergent} };
        my @requests = @{ $warp->{requests} };
        my $step     = 0;
        while (my ($later, $footprint, $base) = splice @requests, 0, 3) {
            $step += $later;
            my $f    = $launch->{footprints}[$footprint];
            my ($lane) = grep { $f->{mask} >> $_ & 1 } 0 .. 31;
            die "the bank of lane $lane is not that of address $base"
                if $f->{space} eq 'shared' && $f->{bank}[$lane] != int($base / 4) % 32;
            my $op   = $sum[$op[$step]];
            my $copy = $launch->{ops}[$op[$step]][1] == $class{'cp.async'};
            next if $f->{space} eq 'lanes';
            my $second = $copy && $f->{space} eq 'shared';
            $op->[3]++ unless $second;
            $op->[$second ? 6 : 4] += $f->{units} // 0;
            $op->[$second ? 7 : 5] += $f->{ideal} // 0;
        }
        for my $t (grep { $launch->{warps}[$_->{warp}] == $warp } @{ $launch->{transfers} }) {
            my $op = $sum[$op[$t->{step}]];
            $op->[3]++;
            $op->[4] += $t->{units};
            $op->[5] += $t->{ideal};
        }
    }
    return \@sum;
}

# Where the sums are not the block's counters.
sub differences {
    my ($launch, $sum) = @_;
    my @wrong;
    for my $op (0 .. $#$sum) {
        for my $i (0 .. $#fields) {
            my ($have, $want) = ($sum->[$op][$i], $launch->{counters}[$op][$i]);
            push @wrong, "$launch->{ops}[$op][0]: $fields[$i] $have, counted $want"
                if $have != $want;
        }
    }
    return @wrong;
}

# Wavefronts and sectors of each footprint, counted by what the lanes have.
sub bad_footprints {
    my ($launch) = @_;
    my @wrong;
    for my $f (@{ $launch->{footprints} }) {
        next unless $f->{space} eq 'shared' || $f->{space} eq 'global';
        my $unit = $f->{space} eq 'shared' ? 'wavefront' : 'sector';
        my (%units, %banks);
        for my $lane (grep { $f->{mask} >> $_ & 1 } 0 .. 31) {
            my $at = $f->{$unit}[$lane];
            $units{$at} = 1;
            next if $unit eq 'sector';
            my $word = int(($f->{distance}[$lane] + 4 * $f->{bank}[0]) / 4);
            push @wrong, "two words of bank $f->{bank}[$lane] in one wavefront"
                if ($banks{"$at $f->{bank}[$lane]"} //= $word) != $word;
        }
        push @wrong, "$f->{units} units, the lanes have " . keys %units
            if $f->{units} != keys %units;
    }
    return @wrong;
}

# The harness's counters, by the classes of the instructions.
my %memory = (
    global_load  => ['global load', 'cp.async', 'bulk load (TMA)'],
    global_store => ['global store', 'bulk store (TMA)'],
    shared_load  => ['shared load', 'ldmatrix'],
    shared_store => ['shared store', 'stmatrix'],
);

sub add_to_totals {
    my ($total, $launch, $sum) = @_;
    for my $op (0 .. $#$sum) {
        my $class = $launch->{classes}[$launch->{ops}[$op][1]];
        my $s     = $sum->[$op];
        $total->{warp_instructions} += $s->[0];
        $total->{lane_instructions} += $s->[1];
        $total->{divergent_branches} += $s->[2];
        $total->{mma_instructions} += $s->[0] if $class =~ /^(wg)?mma$/;
        $total->{barriers} += $s->[0] if $class eq 'barrier';
        for my $kind (keys %memory) {
            next unless grep { $_ eq $class } @{ $memory{$kind} };
            $total->{"${kind}_requests"} += $s->[3];
            $total->{"${kind}_units"} += $s->[4];
            $total->{"${kind}_ideal_units"} += $s->[5];
        }
    }
}

sub check_stage {
    my ($folder, $variant, %variables) = @_;
    my ($blocks, %total, @wrong, @footprints) = (1);
    my ($run) = run_stage($folder, undef, %variables);
    for (my $block = 0; $block < $blocks; $block++) {
        my (undef, $record) = run_stage($folder, $block, %variables);
        push @wrong, "block $block was not recorded" unless $record;
        for my $launch (@{ $record->{launches} || [] }) {
            my ($x, $y, $z) = @{ $launch->{grid} };
            $blocks = $x * $y * $z if $blocks < $x * $y * $z;
            my $sum = add_up($launch);
            push @wrong, differences($launch, $sum);
            push @footprints, bad_footprints($launch);
            add_to_totals(\%total, $launch, $sum);
        }
    }
    my $name = basename($folder) . " $variant";
    result(!@wrong, "$name: the steps of a block are its counters", @wrong);
    result(!@footprints, "$name: wavefronts and sectors are what the lanes need", @footprints);
    my @unlike = map { "$_: recorded " . ($total{$_} // 0) . ", counted $run->{counters}{$_}" }
        grep { ($total{$_} // 0) != $run->{counters}{$_} } sort keys %{ $run->{counters} || {} };
    push @unlike, 'the harness printed no counters' unless $run->{counters};
    result(!@unlike, "$name: its $blocks blocks are the counters of the run", @unlike);
}

for my $folder (@folders) {
    my $early = basename($folder) =~ /^0[123]_/;
    my %sizes = (B => 1, H => 1, HKV => 1, N => $early ? 4 : 72, NKV => $early ? 130 : 200);
    check_stage($folder, 'd128_fp16_full', %sizes);
    check_stage($folder, 'd64_bf16_causal', %sizes, D => 64, DTYPE => 'bf16', CAUSAL => 1)
        if -e "$folder/d64_bf16_causal.so";
}

sub children {
    my (undef, undef, $user, $system) = times;
    return $user + $system;
}

# The processor's seconds of a run.
sub seconds {
    my ($folder, $record) = @_;
    local $ENV{SIM_RECORD} = $record;
    my $start = children();
    system "$program run DEVICE=sim H=1 N=512 $folder >$scratch/log 2>&1";
    return children() - $start;
}

# In turn, the best of five: other tests run beside this one.
my ($plain, $recorded) = (0, 0);
for my $folder (grep { basename($_) =~ /^(04|06|09|15)_/ } @folders) {
    my @best = (1e9, 1e9);
    for (1 .. 5) {
        my @took = (seconds($folder, ''), seconds($folder, "$scratch/record.json"));
        for my $kind (0, 1) { $best[$kind] = $took[$kind] if $took[$kind] < $best[$kind] }
    }
    $plain    += $best[0];
    $recorded += $best[1];
}
if ($plain) {
    my $ratio = sprintf '%.2f', $recorded / $plain;
    result($ratio < 1.6, "a run with a record takes $ratio times one without");
}

print "1..$count\n";
