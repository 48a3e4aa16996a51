// Icons of one hand: 24 units, one line of 1.75, round ends.
const paths = {
  now: "M12 7v5l3 2M12 3a9 9 0 1 1 0 18a9 9 0 0 1 0-18",
  chat: "M4 5h16v11H9l-5 4z",
  runs: "M5 6h14M5 12h9M5 18h5",
  webhooks: "M10 14l4-4M8 11l-2 2a4 4 0 0 0 6 6l2-2M16 13l2-2a4 4 0 0 0-6-6l-2 2",
  messages: "M4 12l16-8l-5 16l-3-6z",
  browser: "M3 5h18v14H3zM3 9h18M6 7h.01",
  people:
    "M9 11a3.5 3.5 0 1 1 0-7a3.5 3.5 0 0 1 0 7M3 20c0-4 2.5-6 6-6s6 2 6 6M16 5a3 3 0 0 1 0 6M18 14c2 .7 3 2.7 3 6",
  approvals: "M12 3l8 3v6c0 4-3 7.5-8 9c-5-1.5-8-5-8-9V6zM9 12l2 2l4-4",
  schedules: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  sessions: "M4 4h12v9H8l-4 3zM9 17h7l4 3V9",
  memory: "M6 4h12v16l-6-4l-6 4z",
  skills: "M13 3L5 14h6l-1 7l8-11h-6z",
  usage: "M4 20V10M10 20V4M16 20v-7M21 20H3",
  logs: "M5 4h14v16H5zM9 9h6M9 13h6M9 17h3",
  settings: "M4 7h9M17 7h3M15 5v4M4 17h3M11 17h9M9 15v4",
  menu: "M4 7h16M4 12h16M4 17h16",
  close: "M6 6l12 12M18 6L6 18",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  stop: "M7 7h10v10H7z",
  again: "M5 12a7 7 0 1 0 2-5L5 9M5 4v5h5",
  back: "M15 6l-6 6l6 6",
  leave: "M10 4H5v16h5M14 8l4 4l-4 4M18 12H9",
  pause: "M9 6v12M15 6v12",
  play: "M7 5l11 7l-11 7z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
} as const

export type IconName = keyof typeof paths

/** Decoration: what it stands for is said in words beside it or by its button. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
