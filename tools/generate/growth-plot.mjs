const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [640, 320, 70, 150, 40, 45];
const COLOURS = ['#2563eb', '#c2410c', '#15803d', '#7e22ce', '#0e7490', '#a16207'];

/**
 * The figures that are named SERIES_SIZE, as lines over their sizes.
 * @param {{ name: string, value: number }[]} figures
 * @returns {{ name: string, points: [number, number][] }[]} without series of fewer than two sizes
 */
export function seriesOf(figures, names) {
  const lines = names.map((series) => {
    const points = figures
      .map(({ name, value }) => [name.match(new RegExp(`^${series}_(\\d+)$`))?.[1], value])
      .filter(([size, value]) => Number(size) > 0 && value > 0)
      .map(([size, value]) => [Number(size), value])
      .sort(([one], [other]) => one - other);
    return { name: series, points };
  });
  return lines.filter(({ points }) => points.length > 1);
}

/** An SVG with both axes logarithmic: what is proportional has the slope of the grid, what is flat is level. */
export function growthPlot({ title, unit, lines }) {
  const all = lines.flatMap(({ points }) => points);
  const x = axis(
    all.map(([size]) => size),
    LEFT,
    WIDTH - RIGHT,
  );
  const y = axis(
    all.map(([, value]) => value),
    HEIGHT - BOTTOM,
    TOP,
  );
  const grid = [
    ...x.decades.map((at) =>
      tick(`M${x.at(at)} ${TOP}V${HEIGHT - BOTTOM}`, x.at(at), HEIGHT - BOTTOM + 18, 'middle', at),
    ),
    ...y.decades.map((at) => tick(`M${LEFT} ${y.at(at)}H${WIDTH - RIGHT}`, LEFT - 8, y.at(at) + 4, 'end', at)),
  ];
  const drawn = lines.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length];
    const path = points.map(([size, value]) => `${x.at(size)},${y.at(value)}`);
    const dots = path.map(
      (point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${colour}"/>`,
    );
    const legend = `<text x="${WIDTH - RIGHT + 12}" y="${TOP + 12 + index * 20}" fill="${colour}">${name}</text>`;
    return `<polyline points="${path.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${legend}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" font-family="sans-serif" font-size="12">
<title>${title}</title>
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="22" font-size="14" fill="#111">${title} (${unit})</text>
${grid.join('\n')}
${drawn.join('\n')}
</svg>
`;
}

/** From whole powers of ten to whole powers of ten around the values. */
function axis(values, from, to) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value) => Number((from + ((Math.log10(value) - low) / (high - low)) * (to - from)).toFixed(1));
  return { at, decades: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)) };
}

const tick = (path, x, y, anchor, value) =>
  `<path d="${path}" stroke="#ddd" fill="none"/><text x="${x}" y="${y}" text-anchor="${anchor}" fill="#555">${value.toLocaleString('en')}</text>`;
