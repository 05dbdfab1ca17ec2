import { afterAll, beforeAll } from 'vitest'
import { newLogger } from '../src/telemetry/logger.ts'
import { type ApiResponse, type CallOptions, callApi } from './call.ts'
import { serveApi, type TestServer } from './test-server.ts'

/** More API processes for the database of a test server, each with its own port, connections and in-memory state. */
export interface Processes {
  call(index: number, path: string, options?: CallOptions): Promise<ApiResponse>
  /** Sends the same request to each of them and to the test server itself. */
  everywhere(path: string, options?: CallOptions): Promise<ApiResponse[]>
  count: number
}

export function useProcesses(server: TestServer, more = 2): Processes {
  const urls: string[] = []
  const close: (() => Promise<void>)[] = []
  beforeAll(async () => {
    urls.push(server.url)
    for (let index = 0; index < more; index++) {
      const served = await serveApi(server, newLogger('silent'))
      urls.push(served.url)
      close.push(served.close)
    }
  })
  afterAll(async () => void (await Promise.all(close.map((each) => each()))))
  const call: Processes['call'] = (index, path, options = {}) => callApi(`${urls[index % urls.length]}${path}`, options)
  return {
    call,
    everywhere: async (path, options) => {
      const responses: ApiResponse[] = []
      for (const index of urls.keys()) responses.push(await call(index, path, options))
      return responses
    },
    count: more + 1,
  }
}
