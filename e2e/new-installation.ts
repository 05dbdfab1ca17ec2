import { newServiceDatabase } from '../server/testing/database.ts'
import { urlOf } from '../server/testing/service.ts'
import { type Installation, type InstallationOptions, startInstallation } from './installation.ts'

/** An installation on a new database of the PostgreSQL that the tests share. */
export async function newInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const { connection, drop } = await newServiceDatabase()
  const place = await startInstallation({ ...options, databaseUrl: urlOf(connection) })
  return {
    ...place,
    async stop() {
      await place.stop()
      await drop()
    },
  }
}
