import { readFile } from 'node:fs/promises';
import {
  type ChannelConfig,
  notificationChannelsSchema,
  type SecretSource,
} from '@hoodcloud/contracts/files/notification-channels';
import { FileFormatError, parseYamlFile } from '@hoodcloud/contracts/files/yaml-file';
import { ConfigError } from '../config.ts';
import { emailChannel } from './channels/email-channel.ts';
import { slackChannel } from './channels/slack-channel.ts';
import { webhookChannel } from './channels/webhook-channel.ts';
import { webhookKey } from './channels/webhook-signature.ts';
import type { NotificationChannel } from './notification-message.ts';

export interface OpenChannel {
  readonly config: ChannelConfig;
  readonly channel: NotificationChannel;
}

/**
 * Reads the channels' file and the secrets that it names.
 * @throws ConfigError with file, line and field, or naming the channel whose secret is missing or none
 */
export async function openChannels(file: string, env: NodeJS.ProcessEnv): Promise<OpenChannel[]> {
  const configs = await readConfigs(file);
  return Promise.all(configs.map(async (config) => ({ config, channel: await openChannel(config, env) })));
}

async function readConfigs(file: string): Promise<ChannelConfig[]> {
  try {
    return parseYamlFile(file, await readFile(file, 'utf8'), notificationChannelsSchema).channels;
  } catch (error) {
    if (error instanceof FileFormatError) throw new ConfigError(error.problems);
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError([`HOODCLOUD_NOTIFICATIONS_FILE can't be read: ${why}`]);
  }
}

async function openChannel(config: ChannelConfig, env: NodeJS.ProcessEnv): Promise<NotificationChannel> {
  const secret = (source: SecretSource) => readSecret(config.name, source, env);
  switch (config.type) {
    case 'webhook': {
      const key = webhookKey(await secret(config.secret));
      if (key) return webhookChannel(config, key);
      throw wrong(
        config.name,
        'its secret must be whsec_ and base64 of 24 to 64 bytes: echo "whsec_$(openssl rand -base64 32)"',
      );
    }
    case 'slack': {
      const url = await secret(config.url);
      if (/^https?:\/\//.test(url) && URL.canParse(url)) return slackChannel(config, url);
      throw wrong(config.name, 'what its url names must hold an http or https URL');
    }
    case 'email': {
      const { password } = config.smtp;
      return emailChannel(config, password ? await secret(password) : null);
    }
  }
}

async function readSecret(channel: string, source: SecretSource, env: NodeJS.ProcessEnv): Promise<string> {
  if ('env' in source) {
    const value = env[source.env];
    if (value) return value.trim();
    throw wrong(channel, `the environment variable ${source.env} is not set`);
  }
  try {
    return (await readFile(source.file, 'utf8')).trim();
  } catch (cause) {
    throw wrong(channel, `the file ${source.file} can't be read: ${cause instanceof Error ? cause.message : cause}`);
  }
}

function wrong(channel: string, what: string): ConfigError {
  return new ConfigError([`notification channel "${channel}": ${what}`]);
}
