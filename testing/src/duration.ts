const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `25h`, `90s` or `1h 30m`, in milliseconds. A number is milliseconds already. */
export function toMs(duration: string | number): number {
  if (typeof duration === 'number' && Number.isFinite(duration) && duration >= 0) return duration
  const parts = [...String(duration).matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*/g)]
  const isWhole = parts.map(([text]) => text).join('') === String(duration)
  if (parts.length === 0 || !isWhole) {
    throw new TypeError(
      `Invalid duration "${duration}". Use a number of milliseconds, or text such as "25h" or "1h 30m".`,
    )
  }
  return parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit as keyof typeof units], 0)
}
