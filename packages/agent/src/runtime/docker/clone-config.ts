import { isDeepStrictEqual } from 'node:util';
import {
  type ContainerConfig,
  type ContainerInspect,
  type ImageInspect,
  isUnset,
  type Json,
  shortId,
} from './container-inspect.ts';

/** Set by the engine or by the clone itself; never carried. */
const LEFT_OUT = new Set(['Image', 'Hostname', 'Domainname', 'ArgsEscaped']);
/** Merged from the image whole, when the operator set none. */
const WHOLE = ['User', 'WorkingDir', 'StopSignal', 'Shell', 'OnBuild'];

/**
 * The part of a container's configuration that is the operator's: what the old image's own defaults don't explain (A14).
 * The engine merges the image's into it when a container is made; here that is undone, so that the defaults of the next
 * image take effect. Fields that no image sets are carried as they are, those unknown to us too.
 */
export function operatorsConfig(container: ContainerInspect, oldImage: ImageInspect): Json {
  const config = container.Config;
  const image = oldImage.Config ?? {};
  const carried: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(config)) if (!LEFT_OUT.has(field)) carried[field] = value;
  for (const field of WHOLE) if (same(config[field], image[field])) delete carried[field];
  const own = {
    Env: operatorsEnv(container, image),
    Labels: without(config.Labels, image.Labels),
    Volumes: without(config.Volumes, image.Volumes),
    ExposedPorts: operatorsPorts(container, image),
    Healthcheck: without(config.Healthcheck, image.Healthcheck),
  };
  for (const [field, value] of Object.entries(own)) {
    if (isUnset(value)) delete carried[field];
    else carried[field] = value;
  }
  delete carried.Cmd;
  delete carried.Entrypoint;
  return { ...carried, ...operatorsCommand(config, image) };
}

/**
 * Entrypoint and command. The engine takes the image's command only when the operator gave neither, so a command that is
 * empty although the image has one tells of an entrypoint of the operator's own, even one equal to the image's.
 */
function operatorsCommand(config: ContainerConfig, image: ContainerConfig): Json {
  const ownEntrypoint = !same(config.Entrypoint, image.Entrypoint) || (isUnset(config.Cmd) && !isUnset(image.Cmd));
  if (ownEntrypoint) {
    // `--entrypoint ""` is sent as one empty word and kept as none at all
    const Entrypoint = config.Entrypoint ?? [''];
    return isUnset(config.Cmd) ? { Entrypoint } : { Entrypoint, Cmd: config.Cmd };
  }
  return same(config.Cmd, image.Cmd) ? {} : { Cmd: config.Cmd };
}

/**
 * Variables that the image doesn't have with the same value; of a name given more than once, all. Podman adds the host
 * name, which is the container's id when nobody chose one.
 */
function operatorsEnv({ Id, Config }: ContainerInspect, image: ContainerConfig): readonly string[] {
  const defaults = new Set([...(image.Env ?? []), `HOSTNAME=${shortId(Id)}`]);
  const env = Config.Env ?? [];
  const name = (entry: string) => entry.split('=', 1)[0];
  return env.filter((entry) => !defaults.has(entry) || env.filter((other) => name(other) === name(entry)).length > 1);
}

/** A published port stays exposed although the old image exposes it too: the next image may not. */
function operatorsPorts(container: ContainerInspect, image: ContainerConfig): Json {
  const published = container.HostConfig.PortBindings ?? {};
  const entries = Object.entries(container.Config.ExposedPorts ?? {});
  return Object.fromEntries(entries.filter(([port]) => port in published || !(port in (image.ExposedPorts ?? {}))));
}

/** The entries of a map that the image's map doesn't have with the same value. */
function without(map: Json | null | undefined, defaults: Json | null | undefined): Json {
  const isDefault = (key: string, value: unknown) =>
    defaults !== null && defaults !== undefined && key in defaults && isDeepStrictEqual(value, defaults[key]);
  return Object.fromEntries(Object.entries(map ?? {}).filter(([key, value]) => !isDefault(key, value)));
}

function same(one: unknown, other: unknown): boolean {
  return (isUnset(one) && isUnset(other)) || isDeepStrictEqual(one, other);
}
