export function withLock<T>(
  file: string,
  onWait: () => void,
  work: (registerChild: (pid: number) => void) => Promise<T>,
  timeoutMs?: number,
): Promise<T>
