// Drawn here, so that they look the same whatever fonts a machine has.

function Icon({ path }: { path: string }) {
  return (
    <svg width="24" height="24" viewBox="0 0 24 24" fill="none" aria-hidden="true">
      <path d={path} stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  )
}

export const clip = (
  <Icon path="M20 11.5 12.3 19a5 5 0 0 1-7-7l8.2-8.2a3.4 3.4 0 0 1 4.8 4.8L10 16.8a1.7 1.7 0 0 1-2.4-2.4L15 7" />
)
export const microphone = (
  <Icon path="M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4" />
)
export const square = <Icon path="M7 7h10v10H7z" />
export const plane = <Icon path="M4 12 20 4l-5 16-4-6zM11 14l9-10" />
export const smile = (
  <Icon path="M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9 10v.1M15 10v.1M8.500 14.500a4.500 4.500 0 0 0 7 0" />
)
export const arrowBack = <Icon path="M10 6 4 12l6 6M4 12h9a6 6 0 0 1 6 6" />
export const pencil = <Icon path="m4 20 1-5L16 4l4 4L9 19z" />
export const bin = <Icon path="M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13" />
