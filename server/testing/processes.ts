import { afterAll, beforeAll } from 'vitest'
import { newLogger } from '../src/lib/logger.ts'
import { type Answer, type CallOptions, callApi } from './call.ts'
import { type House, serveApi } from './house.ts'

/** More processes of the same house: each with its own gate, its own connections and its own port. */
export interface Processes {
  call(index: number, path: string, options?: CallOptions): Promise<Answer>
  /** The same call to each of them, the house itself included. */
  everywhere(path: string, options?: CallOptions): Promise<Answer[]>
  count: number
}

export function useProcesses(house: House, more = 2): Processes {
  const urls: string[] = []
  const close: (() => Promise<void>)[] = []
  beforeAll(async () => {
    urls.push(house.url)
    for (let index = 0; index < more; index++) {
      const served = await serveApi(house, newLogger('silent'))
      urls.push(served.url)
      close.push(served.close)
    }
  })
  afterAll(async () => void (await Promise.all(close.map((each) => each()))))
  const call: Processes['call'] = (index, path, options = {}) => callApi(`${urls[index % urls.length]}${path}`, options)
  return {
    call,
    everywhere: async (path, options) => {
      const answers: Answer[] = []
      for (const index of urls.keys()) answers.push(await call(index, path, options))
      return answers
    },
    count: more + 1,
  }
}
