/**
 * The members of WhatsApp's webhooks that this service reads, for each field. A change with any other member is also stored as it
 * arrived. `unused` marks members that are known and that nothing here needs.
 *
 * The limits are those of the readers: a longer text is cut, so it counts as unread.
 */
import { readId, readObject } from '../read-json.ts'
import * as card from './contacts.ts'
import { readType } from './content.ts'
import { allUnused, cases, flag, id, type Known, list, members, number, person, text, time, unused } from './known.ts'
import { product, referral, welcome } from './message.ts'

const short = id(64)
const longText = text(65_536)

const numberMembers = {
  messaging_product: unused,
  metadata: members({ phone_number_id: id(), display_phone_number: unused }),
}

const error = members({
  code: number,
  title: text(500),
  message: text(2000),
  details: text(4000),
  error_data: members({ details: text(4000), messaging_product: unused }),
  error_user_title: text(500),
  error_user_msg: text(2000),
  // A link to WhatsApp's list of errors.
  href: unused,
})

const contact = members({
  wa_id: person,
  user_id: id(),
  parent_user_id: id(),
  profile: members({ name: text(1024), username: text(256) }),
  // Changes when the person installs WhatsApp on another phone.
  identity_key_hash: unused,
})

const file = {
  id: id(),
  mime_type: text(256),
  sha256: text(128),
  url: text(4096),
  voice: flag,
  animated: flag,
}
const captioned = members({ ...file, caption: longText })

const entries = (byName: Parameters<typeof members>[0]) => list(members(byName), card.maxEntries)

const cards = list(
  members({
    ...card.person,
    // The other parts are in the formatted name.
    name: members({ ...card.name, ...allUnused('first_name', 'middle_name', 'last_name', 'prefix', 'suffix') }),
    phones: entries(card.phone),
    emails: entries(card.email),
    org: members(card.org),
    addresses: entries(card.address),
    urls: entries(card.url),
    // The same card in another format.
    vcard: unused,
  }),
  card.maxCards,
)

const tapped = members({ id: longText, title: longText, description: longText })

/** An object that is passed on as it arrived. */
const whole: Known = (value) => readObject(value) !== null

const place = members({ latitude: number, longitude: number, name: text(1024), address: text(2048), url: text(4096) })
const reaction = members({ message_id: id(), emoji: text(64) })

const messageWith = (more: Readonly<Record<string, Known>> = {}, moreCases: Parameters<typeof cases>[2] = {}) =>
  cases(
    (value) => (readObject(value.message) === null ? readType(value) : 'nested'),
    {
      ...more,
      id: id(),
      from: person,
      from_user_id: id(),
      from_parent_user_id: id(),
      group_id: id(),
      timestamp: time,
      type: short,
      context: members({
        id: id(),
        forwarded: flag,
        frequently_forwarded: flag,
        from: unused,
        referred_product: members(product),
      }),
      referral: members({ ...referral, welcome_message: members(welcome) }),
      errors: list(error, 1),
      identity: unused,
      from_logical_id: unused,
    },
    {
      text: { text: members({ body: longText }) },
      image: { image: captioned },
      video: { video: captioned },
      document: { document: members({ ...file, caption: longText, filename: text(1024) }) },
      audio: { audio: members(file) },
      voice: { voice: members(file), audio: members(file) },
      sticker: { sticker: members(file) },
      location: { location: place },
      contacts: { contacts: cards },
      button: { button: members({ text: longText, payload: longText }) },
      interactive: {
        interactive: cases(
          ({ type }) => readId(type, 64),
          { type: short },
          {
            button_reply: { button_reply: tapped },
            list_reply: { list_reply: tapped },
            call_permission_reply: { call_permission_reply: whole },
            payment_method: { payment_method: whole },
            // `body` is a text like “Sent”. Values that are not JSON are stored as text.
            nfm_reply: {
              nfm_reply: members({
                name: text(256),
                response_json: (value) => text(262_144)(value) || readObject(value) !== null,
                body: unused,
              }),
            },
          },
        ),
      },
      order: {
        order: members({
          catalog_id: id(),
          text: longText,
          product_items: list(
            members(
              { product_retailer_id: id(), quantity: number, item_price: number, currency: id(32) },
              'product_retailer_id',
            ),
            1000,
          ),
        }),
      },
      reaction: { reaction },
      edit: { edit: whole },
      revoke: { revoke: whole },
      unsupported: { unsupported: members({ type: short }) },
      // `body` is a sentence that says the same.
      system: {
        system: members({
          type: short,
          user_id: id(),
          previous_user_id: id(),
          wa_id: person,
          // The parents are those of IDs that are read.
          ...allUnused('body', 'parent_user_id', 'previous_parent_user_id'),
        }),
      },
      ...moreCases,
    },
  )

const message = messageWith()

const status = cases(
  (report) => readId(report.status, 64),
  {
    id: id(),
    status: short,
    timestamp: time,
    recipient_id: id(),
    recipient_user_id: id(),
    recipient_participant_id: id(),
    recipient_participant_user_id: id(),
    biz_opaque_callback_data: text(512),
    pricing: members({
      category: short,
      type: short,
      pricing_type: short,
      pricing_model: short,
      billable: flag,
      cost: members({ amount: number, currency: id(32) }),
    }),
    // A conversation was the unit of billing. The parents are those of IDs that are read.
    ...allUnused('conversation', 'type', 'recipient_type'),
    ...allUnused('recipient_parent_user_id', 'recipient_participant_parent_user_id'),
  },
  { failed: { errors: list(error, 1) } },
)

const conversation = { contacts: list(contact), messages: list(message), statuses: list(status), errors: list(error) }

export const messages = members({ ...numberMembers, ...conversation })

/** The request that sent a message through another app. Unknown parts of it are passed on as they arrived. */
const sentFile = (more: Readonly<Record<string, Known>> = {}) => members({ ...file, link: text(4096), ...more })
const sent = cases(
  readType,
  {
    messaging_product: unused,
    recipient_type: short,
    to: person,
    type: short,
    context: members({ message_id: id(), id: id() }),
  },
  {
    text: { text: members({ body: longText, preview_url: unused }) },
    image: { image: sentFile({ caption: longText }) },
    video: { video: sentFile({ caption: longText }) },
    document: { document: sentFile({ caption: longText, filename: text(1024) }) },
    audio: { audio: sentFile() },
    sticker: { sticker: sentFile() },
    location: { location: place },
    contacts: { contacts: cards },
    reaction: { reaction },
    interactive: { interactive: whole },
    template: { template: whole },
  },
)

const recipient = { to: person, to_user_id: id(), to_parent_user_id: id() }
const echo = messageWith(recipient, { nested: { message: sent } })

export const messageEchoes = members({ ...numberMembers, contacts: list(contact), message_echoes: list(echo) })

export const standby = members({
  ...numberMembers,
  standby: members({ ...conversation, message_echoes: list(echo) }),
})

const owners = members({
  previous_owner_role: id(),
  previous_owner_app_role: id(),
  previous_owner_app_id: id(),
  new_owner_role: id(),
  new_owner_app_role: id(),
  new_owner_app_id: id(),
})

export const handover = members({
  messaging_product: unused,
  sender: members({ phone_number: person, user_id: id() }),
  recipient: members({ phone_number_id: id(), display_phone_number: unused }),
  type: short,
  timestamp: time,
  control_passed: owners,
  control_taken: owners,
})

const past = messageWith({ ...recipient, history_context: members({ status: short }) })

export const history = members({
  ...numberMembers,
  contacts: list(contact),
  messages: list(past),
  errors: list(error),
  history: list(
    members({
      metadata: members({ phase: number, chunk_order: number, progress: number }),
      threads: list(members({ id: person, messages: list(past) })),
    }),
  ),
})

export const stateSync = members({
  ...numberMembers,
  state_sync: list(
    members({
      type: short,
      action: short,
      metadata: members({ timestamp: time }),
      contact: members({
        full_name: text(1024),
        phone_number: person,
        user_id: id(),
        // The full name has the first name.
        ...allUnused('first_name', 'username', 'country_code'),
      }),
    }),
  ),
})

export const userPreferences = members({
  ...numberMembers,
  contacts: list(contact),
  user_preferences: list(
    members({
      wa_id: person,
      user_id: id(),
      category: short,
      value: short,
      timestamp: time,
      // A sentence that says the same.
      detail: unused,
    }),
  ),
})

const template = { message_template_id: id(), message_template_name: id(512), message_template_language: id(35) }

export const templateStatus = members({
  ...template,
  event: short,
  reason: text(2000),
  message_template_category: short,
  rejection_info: members({ reason: text(2000), recommendation: text(2000) }),
  other_info: members({ title: unused, description: text(2000) }),
})

export const templateQuality = members({ ...template, new_quality_score: short, previous_quality_score: unused })

/** The sync that follows fetches the components. */
export const templateComponents = members({
  ...template,
  ...allUnused('message_template_element', 'message_template_title'),
  ...allUnused('message_template_footer', 'message_template_buttons'),
})

export const templateCategory = members({ ...template, new_category: short, previous_category: unused })

/** The members that change the status of an account or a number. */
export const accountUpdate = members({
  event: id(128),
  phone_number: text(64),
  display_phone_number: text(64),
  phone_number_id: id(),
  waba_info: members({ waba_id: id(), owner_business_id: unused }),
  ban_info: members({ waba_ban_state: short, waba_ban_date: text(64) }),
  violation_info: members({ violation_type: text(200) }),
  restriction_info: list(members({ restriction_type: id(128), expiration: time }, 'restriction_type')),
})

export const accountReview = members({ decision: id(128) })

const alert = { alert_severity: short, alert_description: text(500) }
export const accountAlert = members({ ...alert, alert_info: members(alert), entity_type: short, entity_id: id() })

export const numberQuality = members({ display_phone_number: text(64), event: id(128) })

export const numberName = members({
  display_phone_number: text(64),
  decision: id(128),
  requested_verified_name: text(512),
  rejection_reason: text(200),
})
