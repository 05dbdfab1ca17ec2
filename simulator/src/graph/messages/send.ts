import { waIdOf } from '../../ids.ts'
import { isObject, objectIn, scalarIn, textIn, toText } from '../../json.ts'
import { GraphError, refuse, refuseParameter } from '../../network/errors.ts'
import { testNumberOf } from '../../network/test-numbers.ts'
import { phoneFor } from '../../phones/phones.ts'
import { switchesFor } from '../../switches.ts'
import { isBackedUp } from '../../webhooks/notify.ts'
import { findTemplate, type Phone, type PhoneNumber, phoneByUserId, throughputOf } from '../../world.ts'
import { type Call, edge } from '../call.ts'
import { type Check, needText } from './check.ts'
import { contentChecks, unsendableTypes } from './content.ts'
import { markRead } from './mark-read.ts'
import { respondToSend } from './send-response.ts'

export const messageEdges = [edge('POST', 'number', 'messages', sendMessage)]

/** Checks in the same order as WhatsApp: number, structure, recipient, content, then limits. */
function sendMessage(call: Call, number: PhoneNumber): unknown {
  const { body } = call
  if (number.status !== 'CONNECTED') refuse(133010)
  if (body.messaging_product === undefined) refuseParameter('The parameter messaging_product is required.')
  if (body.messaging_product !== 'whatsapp')
    refuseParameter(`Param messaging_product must be one of {WHATSAPP} - got "${toText(body.messaging_product)}".`)
  if (body.status !== undefined) return markRead(call, number)
  const type = typeOf(body.type)
  const recipient = recipientOf(call, number)
  const { world, timers } = call.network
  const check: Check = { world, now: timers.now(), number, failsWith: null, links: [] }
  checkContent(check, type, body[type])
  const category = type === 'template' ? categoryOf(call, number) : null
  if (recipient.toUserId && category === 'AUTHENTICATION') refuse(131062)
  const contextId = contextOf(call, type)
  const opaque = opaqueOf(call)
  if (body.recipient_identity_key_hash !== undefined) needText(body, 'recipient_identity_key_hash', '', 256)
  checkNetwork(call, number, recipient.phone)
  return respondToSend(call, number, recipient.phone, recipient.input, check.links, {
    type,
    content: body[type],
    contextId,
    opaque,
    toUserId: recipient.toUserId,
    category,
    failsWith: check.failsWith,
  })
}

function typeOf(type: unknown): string {
  if (type === undefined) return 'text'
  if (typeof type === 'string' && Object.hasOwn(contentChecks, type.toLowerCase())) return type.toLowerCase()
  if (typeof type === 'string' && unsendableTypes.includes(type)) refuse(131051)
  const names = Object.keys(contentChecks)
    .map((name) => name.toUpperCase())
    .sort()
  return refuseParameter(`Param type must be one of {${names.join(', ')}} - got "${toText(type)}".`)
}

function checkContent(check: Check, type: string, content: unknown): void {
  if (content === undefined || content === null) refuse(131008, `Parameter '${type}' is mandatory for type '${type}'`)
  if (type !== 'contacts' && !isObject(content)) refuseParameter(`Param ${type} must be a JSON object.`)
  contentChecks[type]?.(check, content)
}

interface Recipient {
  phone: Phone
  input: string
  toUserId: boolean
}

/** `to` is a phone number and takes precedence over `recipient`, a business-scoped user ID. */
function recipientOf({ network, body }: Call, number: PhoneNumber): Recipient {
  if (body.recipient_type !== undefined && body.recipient_type !== 'individual')
    refuse(body.recipient_type === 'group' ? 131051 : 131009, 'recipient_type must be individual')
  const to = scalarIn(body, 'to')
  const userId = textIn(body, 'recipient')
  if (!to && userId) {
    if (!/^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/.test(userId))
      refuse(131009, 'recipient is not a valid business-scoped user id')
    const phone = phoneByUserId(network.world, userId)
    if (!phone) return refuse(131009, 'recipient is not a user of this business portfolio')
    return { phone, input: userId, toUserId: true }
  }
  if (!to) return refuseParameter('The parameter to is required.')
  const digits = to.replaceAll(/[\s()+.-]/g, '')
  if (!/^[1-9]\d{6,14}$/.test(digits)) refuse(131009, 'to is not a valid phone number')
  if (digits === number.phoneNumber) refuse(131021)
  const allowed = number.allowedRecipients
  if (allowed && !allowed.some((one) => waIdOf(one) === waIdOf(digits))) refuse(131030)
  return { phone: phoneFor(network, numberToUse(digits)), input: to, toUserId: false }
}

/** One magic number gets a `wa_id` that differs from the number in `to`. */
function numberToUse(digits: string): string {
  const testNumber = testNumberOf(digits)
  return testNumber?.kind === 'failure' && testNumber.failure === 'other_wa_id' ? `${digits}7` : digits
}

function categoryOf({ network, body }: Call, number: PhoneNumber): string {
  const name = textIn(body.template, 'name') ?? ''
  const language = textIn(objectIn(body.template, 'language'), 'code') ?? ''
  return findTemplate(network.world, number.wabaId, name, language)?.category ?? 'UTILITY'
}

function contextOf({ body }: Call, type: string): string | null {
  if (body.context === undefined) return null
  const id = textIn(body.context, 'message_id')
  if (!id) return refuse(131008, "Parameter 'message_id' is mandatory for 'context'")
  if (type === 'reaction') refuse(131009, "'context' is not supported for type 'reaction'")
  return id
}

function opaqueOf({ body }: Call): string | null {
  const opaque = body.biz_opaque_callback_data
  if (opaque === undefined) return null
  if (typeof opaque !== 'string') return refuseParameter('Param biz_opaque_callback_data must be a string.')
  if (opaque.length > 512) refuseParameter('Param biz_opaque_callback_data must be at most 512 characters long.')
  return opaque
}

/** Magic numbers first, then the webhook queue limit, then the rate limits. */
function checkNetwork({ network }: Call, number: PhoneNumber, phone: Phone): void {
  const switches = switchesFor(network.world, number, phone)
  const testNumber = testNumberOf(phone.waId)
  if (testNumber?.kind === 'refused' && network.limits.shouldRefuse(number.id, phone.waId, testNumber.times))
    throw new GraphError(testNumber.code)
  if (isBackedUp(network, number.wabaId))
    refuse(131016, 'The webhook queue is full. Respond to the queued webhooks with 200 and try again.')
  const nowMs = network.timers.now().getTime()
  const isOverLimit = switches.throughputLimit && !network.limits.takeThroughput(number.id, throughputOf(number), nowMs)
  if (isOverLimit) refuse(130429)
  if (switches.pairLimit && !network.limits.takePair(number.id, phone.waId, nowMs)) refuse(131056)
}
