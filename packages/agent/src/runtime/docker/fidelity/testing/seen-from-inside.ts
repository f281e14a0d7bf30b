import type { Host } from '@hoodcloud/testkit/host-lab/lab-host';
import type { ContainerInspect } from '../../container-inspect.ts';

/** What processes in a container see of their surroundings; each a shell line, run as root in the container. */
const LOOKS: Readonly<Record<string, string>> = {
  'the first process': 'tr "\\0" " " </proc/1/cmdline; echo; readlink /proc/1/cwd',
  'users and groups': 'grep -E "^(Uid|Gid|Groups):" /proc/1/status',
  capabilities: 'grep -E "^(Cap...|NoNewPrivs|Seccomp):" /proc/1/status',
  'limits of processes': 'cat /proc/1/limits',
  'limits of the group':
    'for f in memory/memory.limit_in_bytes memory/memory.soft_limit_in_bytes memory/memory.memsw.limit_in_bytes memory/memory.swappiness memory/memory.oom_control cpu/cpu.shares cpu/cpu.cfs_quota_us cpu/cpu.cfs_period_us cpuset/cpuset.cpus pids/pids.max devices/devices.list; do echo "$f: $(grep -v under_oom /sys/fs/cgroup/$f 2>/dev/null)"; done',
  'score for the OOM killer': 'cat /proc/1/oom_score_adj',
  mounts: 'cut -d" " -f4- /proc/self/mountinfo | sed -E "s/ (shared|master|propagate_from|peer):[0-9]+/ \\1/g" | sort',
  'host name': 'hostname; cat /etc/hostname',
  'names of others': 'sort /etc/hosts; cat /etc/resolv.conf',
  addresses: 'ip -o addr show scope global | sed -E "s/^[0-9]+: //; s/@if[0-9]+//" | sort',
  'network settings': 'cat /proc/sys/net/ipv4/ip_unprivileged_port_start; ip route',
  devices: 'ls -l /dev | grep -v total | sed -E "s/ [A-Z][a-z]+ +[0-9]+ [0-9:]+ / /" | grep -v pts',
  'shared memory': 'df -k /dev/shm | tail -1',
};

/** Looks into a running container; ids of the container itself are told as ID, so that two containers can be compared. */
export async function seenFromInside(host: Host, container: ContainerInspect): Promise<Record<string, string>> {
  const { Id: id } = container;
  const { Pid } = container.State as { Pid: number };
  const environment = await host.sh(`tr '\\0' '\\n' </proc/${Pid}/environ | sort`);
  const script = Object.entries(LOOKS)
    .map(([what, line]) => `echo "## ${what}"; { ${line}; } 2>&1`)
    .join('\n');
  const said = await host.must('docker', 'exec', '--user=0', id, 'sh', '-c', script);
  const sections = said.split(/^## /m).slice(1);
  const seen: (readonly [string, string])[] = sections.map((section) => {
    const end = section.indexOf('\n');
    return [section.slice(0, end), sameForAll(section.slice(end + 1), id)] as const;
  });
  seen.push(['environment', sameForAll(environment, id)]);
  const blind = seen.filter(([, text]) => text === '' || /not found|can't open/.test(text));
  if (blind.length > 0) throw new Error(`looks that saw nothing: ${JSON.stringify(blind)}`);
  return Object.fromEntries(seen);
}

/** Takes out what is named after the container or drawn anew for each: its id and the folders of its layers. */
function sameForAll(text: string, id: string): string {
  return text
    .replaceAll(id, 'ID')
    .replaceAll(id.slice(0, 12), 'ID')
    .replaceAll(/(lowerdir|upperdir|workdir)=\S+/g, '$1')
    .trim();
}
