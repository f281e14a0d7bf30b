import { expect, it } from 'vitest';
import { parseAgentConfig } from './agent-config.ts';

const GOOD = `control_plane:
  address: gateway.example.org:9090
  tls: {}
state_dir: /var/lib/hoodcloud
components:
  - binary_name: cometbft
    install_path: /usr/local/bin/cometbft
    data_dir: /var/lib/cometbft
    config_roots: [/var/lib/cometbft/config]
    metrics_url: http://127.0.0.1:26660/metrics
    runtime: { type: systemd, unit: cometbft.service }
  - binary_name: sidecar
    install_path: /opt/sidecar
    data_dir: /var/lib/sidecar
    runtime:
      type: process
      command: [/opt/sidecar, start, --verbose]
      env: { LEVEL: 3 }
`;

it('reads what is there and fills in what may be absent', () => {
  expect(parseAgentConfig('agent.yaml', GOOD)).toEqual({
    control_plane: {
      address: 'gateway.example.org:9090',
      tls: { ca_file: null, cert_file: null, key_file: null, server_name: null },
    },
    state_dir: '/var/lib/hoodcloud',
    allow_http_hosts: [],
    components: [
      {
        binary_name: 'cometbft',
        install_path: '/usr/local/bin/cometbft',
        releases_dir: null,
        data_dir: '/var/lib/cometbft',
        config_roots: ['/var/lib/cometbft/config'],
        metrics_url: 'http://127.0.0.1:26660/metrics',
        signed_by: null,
        hook_programs: [],
        runtime: { type: 'systemd', unit: 'cometbft.service', user: null },
      },
      {
        binary_name: 'sidecar',
        install_path: '/opt/sidecar',
        releases_dir: null,
        data_dir: '/var/lib/sidecar',
        config_roots: [],
        metrics_url: null,
        signed_by: null,
        hook_programs: [],
        runtime: {
          type: 'process',
          command: ['/opt/sidecar', 'start', '--verbose'],
          cwd: null,
          env: { LEVEL: '3' },
          user: null,
          stop_signal: 'SIGTERM',
          restart_delay_ms: 1000,
          autostart: true,
        },
      },
    ],
  });
});

it('reads a component that runs in a container, which has no path to install to (A17)', () => {
  const container = GOOD.replace('    install_path: /usr/local/bin/cometbft\n', '').replace(
    '{ type: systemd, unit: cometbft.service }',
    '{ type: docker, container: cometbft }',
  );
  expect(parseAgentConfig('agent.yaml', container).components[0]).toMatchObject({
    install_path: null,
    runtime: { type: 'docker', container: 'cometbft', socket: '/var/run/docker.sock', docker_config: null },
  });
});

it.each<[what: string, from: string, to: string, message: RegExp]>([
  ['a typo in a field', 'state_dir', 'state_dri', /^agent\.yaml:4: state_dri: there is no such field; known are/],
  ['a typo deep inside', 'unit:', 'unti:', /^agent\.yaml:11: components\[0\]\.runtime\.unti: there is no such field/],
  ['a field that is missing', 'state_dir: /var/lib/hoodcloud\n', '', /^agent\.yaml:1: the field state_dir is missing/],
  [
    'a relative path',
    '/usr/local/bin/cometbft',
    'bin/cometbft',
    /^agent\.yaml:7: components\[0\]\.install_path: an absolute path/,
  ],
  [
    'a path with ..',
    '/opt/sidecar\n',
    '/opt/../sidecar\n',
    /^agent\.yaml:13: components\[1\]\.install_path: an absolute path/,
  ],
  [
    'an unknown runtime',
    'type: process',
    'type: lxc',
    /^agent\.yaml:16: .*runtime\.type must be one of systemd, docker, process/,
  ],
  [
    'a file without its path',
    '    install_path: /opt/sidecar\n',
    '',
    /^agent\.yaml:12: components\[1\]: the field components\[1\]\.install_path is missing/,
  ],
  [
    'a container with the path of a file',
    '{ type: systemd, unit: cometbft.service }',
    '{ type: docker, container: cometbft }',
    /^agent\.yaml:6: components\[0\]: install_path and releases_dir are for files; the image of/,
  ],
  [
    'a container with a slash in its name',
    '{ type: systemd, unit: cometbft.service }',
    '{ type: docker, container: a/b }',
    /^agent\.yaml:11: .*the name of a container/,
  ],
  ['a unit without its suffix', 'cometbft.service', 'cometbft', /^agent\.yaml:11: .*full name of a unit/],
  [
    'an address without a port',
    'gateway.example.org:9090',
    'gateway.example.org',
    /^agent\.yaml:2: control_plane\.address: host:port/,
  ],
  ['a component twice', 'binary_name: sidecar', 'binary_name: cometbft', /^agent\.yaml:6: .*cometbft is there twice/],
  ['a signal that kills', 'type: process', 'type: process\n      stop_signal: SIGKILL', /close its databases/],
  [
    'a number for a text',
    'state_dir: /var/lib/hoodcloud',
    'state_dir: 7',
    /^agent\.yaml:4: state_dir: a text is wanted/,
  ],
  ['a key twice', 'state_dir: /var', 'state_dir: /x\nstate_dir: /var', /^agent\.yaml:5: Map keys must be unique/],
  ['broken YAML', 'tls: {}', 'tls: {', /^agent\.yaml:\d+: /],
  ['an empty file', GOOD, '', /^agent\.yaml:1: a map with control_plane, state_dir/],
])('refuses %s, naming file, line and field', (_, from, to, message) => {
  const parse = () => parseAgentConfig('agent.yaml', GOOD.replace(from, to));
  expect(parse).toThrow(message);
  expect(parse).toThrow(expect.objectContaining({ code: 'invalid_config' }));
});
