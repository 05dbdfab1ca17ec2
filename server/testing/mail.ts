import { afterAll } from 'vitest'
import { type PassOnDeps, passOn } from '../src/domain/notify/pass-on.ts'
import { sendDueMails } from '../src/domain/notify/send-mails.ts'
import type { MailSettings } from '../src/net/mail-settings.ts'
import { type MailServer, type ReceivedMail, startMailServer } from './mail-server.ts'
import { type TestServer, useTestServer } from './test-server.ts'

/** A test server that sends emails, and the mail server that receives them. */
export interface MailingServer {
  server: TestServer
  mailServer: MailServer
  /** Passes on notifications and sends emails, as `processes` processes at the same time. */
  deliver(processes?: number): Promise<void>
  send(signal?: AbortSignal, settings?: Partial<MailSettings>): Promise<number>
  /** The emails to an address so far. */
  mailsTo(address: string): ReceivedMail[]
}

export async function useMailingServer(): Promise<MailingServer> {
  const mailServer = await startMailServer()
  afterAll(() => mailServer.close())
  const env = { PARLEY_SMTP_URL: mailServer.url, PARLEY_MAIL_FROM: 'Parley <parley@example.com>' }
  const server = useTestServer({ env })
  const deps = (more: Partial<MailSettings> = {}) => {
    const { db, clock, secretKeys, runtime } = server
    const settings = { ...(runtime.config.mail as MailSettings), ...more }
    return { db, clock, log: runtime.log, secretKeys, publicUrl: runtime.config.publicUrl, settings }
  }
  const passOnDeps = (): PassOnDeps => ({ ...deps(), secretKeys: () => server.secretKeys, sendsMail: true })
  return {
    server,
    mailServer,
    async deliver(processes = 1) {
      const all = Array.from({ length: processes })
      await Promise.all(all.map(() => passOn(passOnDeps())))
      await Promise.all(all.map(() => sendDueMails(deps())))
    },
    send: (signal, settings) => sendDueMails(deps(settings), signal),
    mailsTo: (address) => mailServer.received.filter(({ to }) => to.includes(address)),
  }
}
