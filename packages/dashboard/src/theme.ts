import { Anchor, type CSSVariablesResolver, createTheme } from '@mantine/core';

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, "DejaVu Sans Mono", monospace',
  // colour alone does not tell a link (WCAG 1.4.1)
  components: { Anchor: Anchor.extend({ defaultProps: { underline: 'always' } }) },
});

/** Mantine's dimmed text and its red are too pale for the contrast that WCAG 2 AA asks. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6270',
    '--mantine-color-body': '#f6f7f9',
    '--mantine-color-anchor': '#364fc7',
    '--mantine-color-error': '#c92a2a',
    '--surface': '#ffffff',
    '--surface-border': '#dfe3e8',
  },
  dark: {
    '--mantine-color-dimmed': '#a3a9b4',
    '--mantine-color-body': '#15171b',
    '--mantine-color-anchor': '#91a7ff',
    '--mantine-color-error': '#ff8787',
    '--surface': '#1d2026',
    '--surface-border': '#31363f',
  },
});

/** The server puts a nonce of its own into every answer; style elements without it are refused. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? '';
}
