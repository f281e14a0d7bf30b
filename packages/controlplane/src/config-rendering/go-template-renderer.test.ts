import { afterAll, describe, expect, it, vi } from 'vitest';
import { GoTemplateRenderer, TemplateError } from './go-template-renderer.ts';

// starting the program takes seconds on a busy machine
vi.setConfig({ testTimeout: 60_000 });

const renderer = new GoTemplateRenderer(20_000);
afterAll(() => renderer.close());

function render(text: string, vars: Record<string, unknown> = {}): Promise<string> {
  return renderer.render({ name: 'config.toml.tmpl', text, vars });
}

describe('GoTemplateRenderer (E1)', () => {
  it.each([
    ['max = {{ .max_peers }}', { max_peers: '100' }, 'max = 100'],
    ['{{ StringsJoin (splitList "," .peers) ";" }}', { peers: 'a,b' }, 'a;b'],
    ['{{ StringsJoin .peers "," }}', { peers: ['a', 'b'] }, 'a,b'],
    [
      '{{- range $i, $p := splitList "," .peers }}{{ if $i }} {{ end }}{{ $p | upper }}{{ end -}}',
      { peers: 'a,b' },
      'A B',
    ],
    ['{{ .text | trim | quote }}', { text: ' <é> ' }, '"<é>"'],
    ['{{ keys (dict "b" 1 "a" 2) | join "," }}', {}, 'a,b'],
    ['', {}, ''],
  ])('renders %s', async (text, vars, expected) => {
    expect(await render(text, vars)).toBe(expected);
  });

  it('refuses a missing variable with template, line and column', async () => {
    const error = await render('a = 1\nb = {{ .pers }}\n', { peers: 'a' }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(TemplateError);
    expect((error as Error).message).toMatch(/config\.toml\.tmpl:2:7: .*map has no entry for key "pers"/);
  });

  it('refuses a template that is none, with its line', async () => {
    await expect(render('a\n{{ if }}')).rejects.toThrow('template: config.toml.tmpl:2: missing value for if');
  });

  it.each([
    'env "HOME"',
    'expandenv "$HOME"',
    'now',
    'date "2006" 0',
    'ago 0',
    'randAlpha 5',
    'uuidv4',
    'genPrivateKey "rsa"',
    'getHostByName "x"',
    'bcrypt "x"',
    'shuffle "abc"',
    'randInt 1 9',
    'encryptAES "k" "t"',
  ])('has no function that reads environment, clock or chance: %s', async (call) => {
    await expect(render(`{{ ${call} }}`)).rejects.toThrow(/function "\w+" not defined/);
  });

  it('answers each of many at once, whatever its neighbours do', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) => render(index % 3 === 0 ? '{{ .missing }}' : `{{ .n }}`, { n: index })),
    );
    for (const [index, answer] of answers.entries()) {
      expect(answer).toMatchObject(
        index % 3 === 0 ? { status: 'rejected' } : { status: 'fulfilled', value: String(index) },
      );
    }
  });

  it('gives up a template that does not end, and renders the others of its batch', async () => {
    const impatient = new GoTemplateRenderer(5000);
    const endless = impatient.render({
      name: 'endless.tmpl',
      text: '{{ range until 2000000000 }}x{{ end }}',
      vars: {},
    });
    const others = [1, 2].map((n) => impatient.render({ name: 'ok.tmpl', text: '{{ .n }}', vars: { n } }));
    await expect(endless).rejects.toThrow(/endless\.tmpl|ended/);
    expect(await Promise.all(others)).toEqual(['1', '2']);
    await impatient.close();
  });
});
