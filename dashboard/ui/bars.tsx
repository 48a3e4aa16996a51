// A chart of bars. What it shows stands in a list too; a pointer gets each bar's words.
interface Bar {
  name: string
  value: number
  words: string
}

const height = 120

export function Bars({ bars, label }: { bars: readonly Bar[]; label: string }) {
  const most = Math.max(...bars.map(({ value }) => value)) || 1
  return (
    <figure>
      <svg
        class="bars"
        viewBox={`0 0 ${bars.length * 10} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={label}
      >
        {bars.map(({ name, value, words }, index) => {
          const tall = value === 0 ? 0 : Math.max(1, (value / most) * height)
          return (
            <rect key={name} x={index * 10 + 1} y={height - tall} width={8} height={tall}>
              <title>{words}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption class="dim">
        <span>{bars[0]?.name}</span>
        <span>{bars.length > 1 && bars.at(-1)?.name}</span>
      </figcaption>
    </figure>
  )
}
