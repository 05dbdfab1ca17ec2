import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { connect } from 'node:net'

/** The reader's own application: accepts every delivery, and confirms itself to the network. */
export class Receiver {
  readonly #port: number
  #server: Server | undefined

  constructor(port: string) {
    this.#port = Number(port)
  }

  async start(): Promise<void> {
    this.#server = createServer((request, response) => {
      request.resume()
      const challenge = new URL(request.url ?? '/', 'http://localhost').searchParams.get('hub.challenge')
      request.on('end', () => response.end(challenge ?? 'ok'))
    }).listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  /** Frees the port, for a receiver of the documents. */
  async stop(): Promise<void> {
    if (!this.#server) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
    this.#server = undefined
  }

  /** Whether another program listens on the port. */
  async isTaken(): Promise<boolean> {
    const socket = connect(this.#port, '127.0.0.1')
    const isTaken = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return isTaken
  }
}
