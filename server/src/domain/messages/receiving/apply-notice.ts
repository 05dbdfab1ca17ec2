import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import type { Incoming } from '../../../whatsapp/incoming/incoming.ts'
import { applyTemplateChange } from '../../connections/connections.ts'
import { applyAccountNotice } from '../../connections/notices.ts'

/** Handles updates that publish no event: template changes, account notices and problems. */
export async function applyNotice(db: Db, log: Logger, clock: Clock, appId: string, item: Incoming): Promise<void> {
  switch (item.kind) {
    case 'template':
      await applyTemplateChange(db, clock, appId, item)
      return
    case 'notice':
      await applyAccountNotice(db, clock, appId, item)
      log.info(
        { event: 'network.notice', app_id: appId, waba_id: item.wabaId, field: item.field, notice: item.event },
        'WhatsApp sent a notice',
      )
      return
    case 'problem':
      log.warn(
        { event: 'network.problem', app_id: appId, phone_number_id: item.phoneNumberId, network_code: item.error.code },
        'WhatsApp reports a problem',
      )
  }
}
