export function withLock<T>(
  file: string,
  onWait: () => void,
  work: (nameChild: (pid: number) => void) => Promise<T>,
  patienceMs?: number,
): Promise<T>
