// The picture of the tab: fitted into the window, zoomed and moved by fingers, and where a point of it is in the tab.

export interface View {
  canvas: HTMLCanvasElement
  stage: HTMLElement
  /** Screen pixels a pixel of the tab. */
  readonly scale: number
  draw(jpeg: Blob): Promise<void>
  /** Of the tab, in its own pixels. */
  resize(width: number, height: number): void
  pointAt(event: { clientX: number; clientY: number }): { x: number; y: number }
  zoomAt(clientX: number, clientY: number, factor: number): void
  moveBy(dx: number, dy: number): void
}

const mostZoom = 6

export function createView(stage: HTMLElement, canvas: HTMLCanvasElement): View {
  const context = canvas.getContext("2d")
  let tab = { width: 1, height: 1 }
  let zoom = 1
  let left = 0
  let top = 0
  let came = 0
  let drawn = 0
  const fit = () => Math.min(stage.clientWidth / tab.width, stage.clientHeight / tab.height)
  const place = () => {
    const scale = fit() * zoom
    const width = tab.width * scale
    const height = tab.height * scale
    // A picture that is smaller than the window stands in its middle, a larger one covers it.
    left =
      width <= stage.clientWidth
        ? (stage.clientWidth - width) / 2
        : Math.min(0, Math.max(stage.clientWidth - width, left))
    top = height <= stage.clientHeight ? 0 : Math.min(0, Math.max(stage.clientHeight - height, top))
    canvas.style.width = `${width}px`
    canvas.style.height = `${height}px`
    canvas.style.transform = `translate(${left}px, ${top}px)`
  }
  new ResizeObserver(place).observe(stage)
  return {
    canvas,
    stage,
    get scale() {
      return fit() * zoom
    },
    async draw(jpeg) {
      const own = (came += 1)
      const picture = await createImageBitmap(jpeg)
      // They are ready in any order.
      if (own < drawn) return picture.close()
      drawn = own
      if (canvas.width !== picture.width || canvas.height !== picture.height) {
        canvas.width = picture.width
        canvas.height = picture.height
      }
      context?.drawImage(picture, 0, 0)
      picture.close()
    },
    resize(width, height) {
      if (width <= 0 || height <= 0 || (tab.width === width && tab.height === height)) return
      tab = { width, height }
      place()
    },
    pointAt({ clientX, clientY }) {
      const box = stage.getBoundingClientRect()
      const scale = fit() * zoom
      const inside = (value: number, most: number) => Math.round(Math.min(most - 1, Math.max(0, value)) * 10) / 10
      return {
        x: inside((clientX - box.left - left) / scale, tab.width),
        y: inside((clientY - box.top - top) / scale, tab.height),
      }
    },
    zoomAt(clientX, clientY, factor) {
      const box = stage.getBoundingClientRect()
      const next = Math.min(mostZoom, Math.max(1, zoom * factor))
      const x = clientX - box.left
      const y = clientY - box.top
      left = x - ((x - left) * next) / zoom
      top = y - ((y - top) * next) / zoom
      zoom = next
      place()
    },
    moveBy(dx, dy) {
      left += dx
      top += dy
      place()
    },
  }
}
