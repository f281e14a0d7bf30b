/** The library brings no types; these are what it returns. */
declare module 'parse-prometheus-text-format' {
  interface Sample {
    readonly labels?: Record<string, string>;
    /** As written; absent for the aggregated shapes of histograms and summaries. */
    readonly value?: string;
  }
  interface Family {
    readonly name: string;
    readonly metrics: readonly Sample[];
  }
  // biome-ignore lint/style/noDefaultExport: it is the shape of the library
  export default function parse(page: string): Family[];
}
