/** 16 px icons with one stroke in the color of the text, hidden from screen readers: the label next to them says it. */
const paths = {
  overview: 'M2.5 9.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4z',
  message:
    'M2.5 4.5a2 2 0 0 1 2-2h7a2 2 0 0 1 2 2v5a2 2 0 0 1-2 2H7l-3.2 2.3a.5.5 0 0 1-.8-.4v-1.95a2 2 0 0 1-.5-1.95z',
  template: 'M3 2.5h10v11H3zM5.5 5.5h5M5.5 8h5M5.5 10.5h2.5',
  sender: 'M5 1.5h6a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1H5a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM7.2 12.2h1.6',
  form: 'M3 2.5h10v11H3zM5.2 5.8l.8.8 1.4-1.5M9 6h2M5.2 10l.8.8 1.4-1.5M9 10.2h2',
  order: 'M3 5h10l-.7 8H3.7zM5.5 5a2.5 2.5 0 0 1 5 0',
  key: 'M9.9 9.1a3.5 3.5 0 1 0-3-3L2.5 10.5v3h3V12H7v-1.5h1.5zM10.8 5.2h.01',
  webhook:
    'M8 5.2a2.2 2.2 0 1 1 1.9 2.2L12 10.6M6.6 4.9 4.4 9M4.6 9.6a2.2 2.2 0 1 0 1.9 2.9H11M11.4 13.2a2.1 2.1 0 1 0 .5-3.6',
  delivery: 'M13.5 2.5 7 9M13.5 2.5l-4 11-2.5-4.5-4.5-2.5z',
  request: 'M2.5 4h11M2.5 8h7M2.5 12h9',
  apiError: 'M8 2.2 13 4v4c0 3-2.2 5-5 6-2.8-1-5-3-5-6V4zM6.3 6.3l3.4 3.4M9.7 6.3 6.3 9.7',
  docs: 'M8 4.2C6.6 3 4.8 2.7 2.5 2.7v9.6c2.3 0 4.1.3 5.5 1.5 1.4-1.2 3.2-1.5 5.5-1.5V2.7C11.2 2.7 9.4 3 8 4.2zM8 4.2v9.6',
  credit:
    'M8 2.5c3 0 5 .8 5 2s-2 2-5 2-5-.8-5-2 2-2 5-2zM3 4.5V8c0 1.2 2 2 5 2s5-.8 5-2V4.5M3 8v3.5c0 1.2 2 2 5 2s5-.8 5-2V8',
  team: 'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.4M12 9.9c1.5.5 2.5 1.8 2.5 3.6',
  audit: 'M8 4.5V8l2.3 1.5M2.8 8a5.5 5.5 0 1 0 1.7-4L2.5 5.8M2.5 2.8v3h3',
  settings: 'M2.5 4.5h6M11.5 4.5h2M2.5 11.5h2M7.5 11.5h6M10 3v3M6 10v3',
  building: 'M3 13.5v-11h6v11M9 6.5h4v7M1.8 13.5h12.4M5 5h2M5 7.5h2M5 10h2',
  plug: 'M5.5 2v3M10.5 2v3M3.5 5h9v2.5a4.5 4.5 0 0 1-9 0zM8 12v2.5',
  pulse: 'M1.5 8.5h3l2-5.5 3 10 2-4.5h3',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM10.7 10.7 14 14',
  plus: 'M8 3v10M3 8h10',
  check: 'M3 8.5 6.5 12 13 4.5',
  checkCircle: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8.2l1.8 1.8 3.3-3.7',
  cross: 'M4 4l8 8M12 4l-8 8',
  crossCircle: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6 6l4 4M10 6l-4 4',
  warning: 'M8 2.5 14.2 13.3H1.8zM8 6.5v3.2M8 11.5h.01',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 7.5v3.3M8 5.2h.01',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.8V8l2.2 1.4',
  pause: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.5 6v4M9.5 6v4',
  minusCircle: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8h5',
  circle: 'M8 12.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9z',
  progress: 'M8 2a6 6 0 1 0 6 6',
  read: 'M1.5 8.5 4.5 11.5 10 5M7.8 10.7l.8.8L14.5 5',
  retry: 'M13.2 8a5.2 5.2 0 1 1-1.6-3.8l1.9 1.8M13.5 2.8V6h-3.2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4z',
  eyeOff:
    'M6.3 3.7A7 7 0 0 1 8 3.5c4 0 6.5 4.5 6.5 4.5a12 12 0 0 1-1.9 2.4M4.2 4.8A12 12 0 0 0 1.5 8S4 12.5 8 12.5a7 7 0 0 0 3.3-.9M6.6 6.6a2 2 0 0 0 2.8 2.8M2.5 2.5l11 11',
  download: 'M8 2.5v8M4.8 7.5 8 10.7l3.2-3.2M2.5 13.5h11',
  external: 'M6.5 3.5h-3v9h9v-3M9 2.5h4.5V7M13.5 2.5 7.5 8.5',
  chevronDown: 'M4 6l4 4 4-4',
  chevronUp: 'M4 10l4-4 4 4',
  chevronRight: 'M6 4l4 4-4 4',
  chevronLeft: 'M10 4 6 8l4 4',
  arrowRight: 'M3 8h10M9 4l4 4-4 4',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  selector: 'M5 6.2 8 3.2l3 3M5 9.8l3 3 3-3',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  filter: 'M2.5 4h11M4.5 8h7M6.5 12h3',
  calendar: 'M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9',
  moon: 'M13.5 9.3A5.8 5.8 0 0 1 6.7 2.5a5.8 5.8 0 1 0 6.8 6.8z',
  screen: 'M2 3h12v8H2zM5.5 13.5h5M8 11v2.5',
  person: 'M8 7.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM2.8 13.8c0-2.8 2.3-4.3 5.2-4.3s5.2 1.5 5.2 4.3',
  signOut: 'M6 2.5H3v11h3M7 8h7M11 5l3 3-3 3',
  lock: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  passkey:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4 .8 0 1.5.1 2.1.4M12 10.3a2 2 0 1 0-1 0v4.2l1.2-1.2-.8-.9.8-.9z',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.8 7v4M9.2 7v4',
  edit: 'M2.5 13.5v-2.8l8-8 2.8 2.8-8 8zM8.8 4.4l2.8 2.8',
  play: 'M4.5 2.8 12.8 8l-8.3 5.2z',
  stop: 'M4 4h8v8H4z',
  link: 'M6.8 9.2a2.7 2.7 0 0 0 3.9 0l2.2-2.2A2.7 2.7 0 0 0 9 3.1l-.8.8M9.2 6.8a2.7 2.7 0 0 0-3.9 0L3.1 9A2.7 2.7 0 0 0 7 12.9l.8-.8',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 6.5V13',
  chart: 'M2.5 13.5h11M4.5 11V7M8 11V3.5M11.5 11V8.5',
  keyboard: 'M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6',
  offline:
    'M2.5 2.5l11 11M4.5 8.6a5 5 0 0 1 2-1.3M2 6.2a8.6 8.6 0 0 1 2.7-1.8M11.5 8.6 10 7.5M14 6.2A8.6 8.6 0 0 0 7 3.6M6.4 10.6a2.3 2.3 0 0 1 3.2 0M8 12.8h.01',
  code: 'M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5',
  file: 'M4 1.8h5l3.2 3.2v9.2H4zM9 1.8V5h3.2',
  image: 'M2.5 3h11v10h-11zM5.5 7a1 1 0 1 0 0-2 1 1 0 0 0 0 2zM2.5 11.5 6 8.5l2.5 2L11 8l2.5 2.2',
  bell: 'M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3zM6.8 14.2h2.4',
  bolt: 'M8.8 1.8 3.5 9H8l-.8 5.2L12.5 7H8z',
  globe:
    'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c2 1.8 2.7 3.8 2.7 6S10 12.2 8 14c-2-1.8-2.7-3.8-2.7-6S6 3.8 8 2z',
} as const

export type IconName = keyof typeof paths

export function Icon({
  name,
  size = 16,
  className,
}: {
  name: IconName
  size?: number
  className?: string | undefined
}) {
  return (
    <svg
      className={className}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === 'more' ? 2 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  )
}
