import type { Network } from '../network.ts'
import type { App, Callback } from '../world.ts'

/** Saves a callback that has passed the handshake. `fields` are those it is subscribed to; undefined means every field. */
export function setAppCallback(network: Network, app: App, callback: Callback, fields: string[] | undefined): App {
  app.callbackUrl = callback.url
  app.verifyToken = callback.verifyToken
  if (fields) app.fields = fields
  network.queue.retryNow(app.id)
  network.changed()
  return app
}

export function removeAppCallback(network: Network, app: App): App {
  app.callbackUrl = null
  delete app.fields
  network.changed()
  return app
}
