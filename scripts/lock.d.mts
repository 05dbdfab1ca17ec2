export function withLock<T>(
  file: string,
  onWait: () => void,
  work: (nameChild: (pid: number) => void) => Promise<T>,
  timeoutMs?: number,
): Promise<T>
