"""The objects of the API, as typed dictionaries. Written by `npm run openapi`: do not change it.

New fields, event types and values may be added: ignore unknown ones.
"""

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union

MeKey = TypedDict(
    "MeKey",
    {
        #: The ID of the key.
        "id": str,
        #: The name of the key in the console.
        "name": str,
        #: The scopes of the key.
        "scopes": List[str],
    },
)

Me = TypedDict(
    "Me",
    {
        #: The ID of the workspace that the key belongs to.
        "account_id": str,
        #: The API key of the request.
        "key": MeKey,
        #: The rate limit of the key, in requests per minute.
        "rate_limit_per_min": int,
    },
)

Webhook = TypedDict(
    "Webhook",
    {
        #: The ID of the webhook.
        "id": str,
        #: The object type.
        "object": Literal["webhook"],
        #: The name of the webhook in the console.
        "name": str,
        #: The URL that events are sent to with POST.
        "url": str,
        #: The first and last four characters of the signing secret.
        "secret_hint": str,
        #: The event types that the webhook is subscribed to.
        "events": List[str],
        #: The webhook gets only events of these senders, and events that have no sender. Null: events of all senders.
        "senders": Optional[List[str]],
        #: `conversation`: the events of one sender and one contact are sent one after another, in the order in which they occurred. While one is retried, later ones wait. `none`: events do not wait for each other.
        "ordering": str,
        #: The names of the headers that were added to the requests. Their values are never shown.
        "headers": List[str],
        #: Whether events are sent. Events for a disabled webhook are held.
        "enabled": bool,
        #: Why the webhook is disabled. Null if it is enabled.
        "disabled_reason": Optional[str],
        #: When an event was last delivered successfully.
        "last_success_at": Optional[str],
    },
)

Sender = TypedDict(
    "Sender",
    {
        #: The ID of the sender.
        "id": str,
        #: The object type.
        "object": Literal["sender"],
        #: The phone number in international format, digits only.
        "phone_number": str,
        #: The display name that WhatsApp verified.
        "display_name": Optional[str],
        #: One of `CONNECTED`, `PENDING`, `DISCONNECTED`, `FLAGGED`, `RESTRICTED`, `RATE_LIMITED`, `BANNED`, `MIGRATED`, `DELETED`, `UNVERIFIED`, `UNKNOWN`; values may be added. Only `CONNECTED` can send.
        "status": str,
        #: WhatsApp's quality rating of the number: `GREEN`, `YELLOW`, `RED`, `UNKNOWN`.
        "quality_rating": str,
        #: When the sender was added to the workspace. ISO 8601, UTC.
        "created_at": str,
    },
)

TemplateVariable = TypedDict(
    "TemplateVariable",
    {
        #: The key of the variable in `template.variables`: `header.<n|name|image|video|document|location>`, `body.<n|name>`, `buttons.<index>.<url|code|payload|products|thumbnail>`, or `offer.expires_at`. In a carousel the key starts with `cards.<n>.`
        "key": str,
        #: The part of the template that contains the variable.
        "in": str,
        #: The type of the value. `text`: a string without line breaks. In the header and the body, `text` can be an amount, `{currency: {fallback_value, code, amount_1000}}`, or a date, `{date_time: {fallback_value}}`. A date can have `day_of_week`, `year`, `month`, `day_of_month`, `hour`, `minute` and `calendar`. `image`, `video`, `gif`, `document`: a link, `{id}` or `{link}` (a document also takes `filename`). `location`: `{latitude, longitude, name, address}`. `timestamp`: a time in ISO 8601 format. `product`: `{catalog_id, product_retailer_id}`. `products`: `{thumbnail_product_retailer_id, sections: [{title, product_retailer_ids}]}`.
        "type": str,
        #: Whether the request fails without this variable.
        "required": bool,
        #: The example value that the template was approved with.
        "example": Optional[str],
    },
)

TemplateFlow = TypedDict(
    "TemplateFlow",
    {
        #: WhatsApp's ID of the form.
        "flow_id": Optional[str],
        #: The index of the button that opens the form.
        "button_index": int,
    },
)

Template = TypedDict(
    "Template",
    {
        #: The ID of the template.
        "id": str,
        #: The object type.
        "object": Literal["template"],
        #: The name of the template at WhatsApp.
        "name": str,
        #: WhatsApp's language code, such as `en_US` or `es`.
        "language": str,
        #: One of `MARKETING`, `UTILITY`, `AUTHENTICATION`; values may be added.
        "category": str,
        #: One of `APPROVED`, `PENDING`, `REJECTED`, `PAUSED`, `DISABLED`, `IN_APPEAL`, `PENDING_DELETION`, `DELETED`, `LIMIT_EXCEEDED`, `ARCHIVED`, `FLAGGED`, `LOCKED`; values may be added. Only `APPROVED` can be sent.
        "status": str,
        #: False if the template has parts that this service does not support, such as order details. Such a template cannot be sent, whatever its status.
        "sendable": bool,
        #: Which parts are not supported, for people. Null if `sendable` is true.
        "not_sendable_reason": Optional[str],
        #: The variables of the template. In an authentication template, set the code once, as `body.1`; it is also used for the button. Some buttons also accept optional variables: a quick-reply button `buttons.<index>.payload`, a catalog button `buttons.<index>.thumbnail`, and a call button `buttons.<index>.ttl_minutes`, an integer, and `buttons.<index>.payload`.
        "variables": List[TemplateVariable],
        #: The form that the template opens. Null if it has no form button.
        "flow": Optional[TemplateFlow],
        #: The components of the template, as WhatsApp stores them.
        "components": List[Any],
        #: When the template last changed. ISO 8601, UTC.
        "updated_at": str,
    },
)

MessageError = TypedDict(
    "MessageError",
    {
        #: WhatsApp's error code, or a word such as `outcome_unknown` if the service stopped trying.
        "code": Union[int, str],
        #: A short description of the code.
        "title": str,
        #: WhatsApp's error message.
        "message": str,
        #: More detail, if WhatsApp provided any.
        "details": Optional[str],
    },
)

MessagePricingCost = TypedDict(
    "MessagePricingCost",
    {
        #: The amount, as a decimal number.
        "amount": str,
        #: The currency code.
        "currency": Optional[str],
    },
)

MessagePricing = TypedDict(
    "MessagePricing",
    {
        #: The category that WhatsApp billed the message in, such as `marketing`, `utility`, `authentication` or `service`.
        "category": Optional[str],
        #: The price type: `regular`, or free as `free_customer_service` or `free_entry_point`.
        "type": Optional[str],
        #: The pricing model, such as `PMP` (per message).
        "model": Optional[str],
        #: Whether WhatsApp bills the message. Null if it does not say.
        "billable": Optional[bool],
        #: The amount that WhatsApp bills for the message. Null if it does not say.
        "cost": Optional[MessagePricingCost],
    },
)

Message = TypedDict(
    "Message",
    {
        #: The ID of the message.
        "id": str,
        #: The object type.
        "object": Literal["message"],
        #: The number that the message was sent from.
        "sender_id": str,
        #: The recipient's phone number in international format, digits only. Null if the message was sent to a user ID, or the contact was erased.
        "to": Optional[str],
        #: WhatsApp's ID of the recipient. Null if it is not known.
        "to_user_id": Optional[str],
        #: The message type.
        "type": str,
        #: The template. Null unless `type` is `template`.
        "template_id": Optional[str],
        #: Your own reference, as you set it when sending.
        "reference": Optional[str],
        #: `queued`, `sent`, `delivered`, `read` or `failed`. A status never moves backward. `delivered` and `read` replace `failed`, because the device confirmed them.
        "status": str,
        #: WhatsApp's ID of the message. Null until WhatsApp accepts it, and if the contact was erased.
        "wa_message_id": Optional[str],
        #: The price of the message. Credits for a failed message are refunded.
        "credits": int,
        #: Why the message failed. Null unless `status` is `failed`.
        "error": Optional[MessageError],
        #: How WhatsApp billed the message. Null while it is not known.
        "pricing": Optional[MessagePricing],
        #: When the message was created. ISO 8601, UTC.
        "created_at": str,
        #: When WhatsApp accepted the message.
        "sent_at": Optional[str],
        #: When the message was delivered to the recipient's device.
        "delivered_at": Optional[str],
        #: When the recipient read the message.
        "read_at": Optional[str],
        #: When the message failed.
        "failed_at": Optional[str],
    },
)

MessageStep = TypedDict(
    "MessageStep",
    {
        #: The new status.
        "status": str,
        #: When the status changed. ISO 8601, UTC.
        "occurred_at": str,
        #: Why the message failed. Null unless `status` is `failed`.
        "error": Optional[MessageError],
    },
)

MessageWithHistory = TypedDict(
    "MessageWithHistory",
    {
        #: The ID of the message.
        "id": str,
        #: The object type.
        "object": Literal["message"],
        #: The number that the message was sent from.
        "sender_id": str,
        #: The recipient's phone number in international format, digits only. Null if the message was sent to a user ID, or the contact was erased.
        "to": Optional[str],
        #: WhatsApp's ID of the recipient. Null if it is not known.
        "to_user_id": Optional[str],
        #: The message type.
        "type": str,
        #: The template. Null unless `type` is `template`.
        "template_id": Optional[str],
        #: Your own reference, as you set it when sending.
        "reference": Optional[str],
        #: `queued`, `sent`, `delivered`, `read` or `failed`. A status never moves backward. `delivered` and `read` replace `failed`, because the device confirmed them.
        "status": str,
        #: WhatsApp's ID of the message. Null until WhatsApp accepts it, and if the contact was erased.
        "wa_message_id": Optional[str],
        #: The price of the message. Credits for a failed message are refunded.
        "credits": int,
        #: Why the message failed. Null unless `status` is `failed`.
        "error": Optional[MessageError],
        #: How WhatsApp billed the message. Null while it is not known.
        "pricing": Optional[MessagePricing],
        #: When the message was created. ISO 8601, UTC.
        "created_at": str,
        #: When WhatsApp accepted the message.
        "sent_at": Optional[str],
        #: When the message was delivered to the recipient's device.
        "delivered_at": Optional[str],
        #: When the recipient read the message.
        "read_at": Optional[str],
        #: When the message failed.
        "failed_at": Optional[str],
        #: Every status change of the message, oldest first.
        "history": List[MessageStep],
    },
)

StoredInboundMessageInReplyTo = TypedDict(
    "StoredInboundMessageInReplyTo",
    {
        #: WhatsApp's ID of the quoted message.
        "wa_message_id": str,
        #: The ID of the quoted message. Null unless this workspace sent it.
        "message_id": Optional[str],
    },
)

StoredInboundMessageReply = TypedDict(
    "StoredInboundMessageReply",
    {
        #: The ID that you gave the button or row. Branch on this field.
        "id": str,
        #: The label of the button or row. Do not branch on it: it changes when you reword the label.
        "title": str,
        #: The description of the list row. Null if it has none, and for buttons.
        "description": Optional[str],
    },
)

StoredInboundMessageMedia = TypedDict(
    "StoredInboundMessageMedia",
    {
        #: WhatsApp's ID of the file.
        "id": str,
        #: The media type that WhatsApp reported. It can contain parameters.
        "mime_type": str,
        #: The file name of a document, chosen by the contact. Do not use it as a file path.
        "filename": Optional[str],
        #: The caption. Also available as `text`.
        "caption": Optional[str],
        #: The SHA-256 hash of the file, in hex. Null if WhatsApp did not send it.
        "sha256": Optional[str],
        #: True for a voice message, false for any other file.
        "voice": bool,
        #: Where to download the file: `GET /v1/inbound_messages/{id}/media` of this service. Requires an API key with the scope `inbound:read`.
        "url": str,
    },
)

StoredInboundMessageLocation = TypedDict(
    "StoredInboundMessageLocation",
    {
        #: The latitude in degrees.
        "latitude": float,
        #: The longitude in degrees.
        "longitude": float,
        #: The name of the place. Set if the contact picked it on the map.
        "name": Optional[str],
        #: The address of the place. Set if the contact picked it on the map.
        "address": Optional[str],
        #: A link for the place.
        "url": Optional[str],
    },
)

StoredInboundMessageContactsItemPhonesItem = TypedDict(
    "StoredInboundMessageContactsItemPhonesItem",
    {
        #: The phone number, as it is written on the card.
        "phone": Optional[str],
        #: The number on WhatsApp, digits only. Null if WhatsApp does not know it.
        "wa_id": Optional[str],
        #: The kind of number, such as `CELL` or `WORK`.
        "type": Optional[str],
    },
)

StoredInboundMessageContactsItemEmailsItem = TypedDict(
    "StoredInboundMessageContactsItemEmailsItem",
    {
        #: The email address.
        "email": Optional[str],
        #: The kind of address, such as `HOME` or `WORK`.
        "type": Optional[str],
    },
)

StoredInboundMessageContactsItemOrg = TypedDict(
    "StoredInboundMessageContactsItemOrg",
    {
        #: The company.
        "company": Optional[str],
        #: The department.
        "department": Optional[str],
        #: The job title.
        "title": Optional[str],
    },
)

StoredInboundMessageContactsItemAddressesItem = TypedDict(
    "StoredInboundMessageContactsItemAddressesItem",
    {
        #: The street and number.
        "street": Optional[str],
        #: The city.
        "city": Optional[str],
        #: The state.
        "state": Optional[str],
        #: The postal code.
        "zip": Optional[str],
        #: The country.
        "country": Optional[str],
        #: The country as a code of two letters.
        "country_code": Optional[str],
        #: The kind of address, such as `HOME` or `WORK`.
        "type": Optional[str],
    },
)

StoredInboundMessageContactsItemUrlsItem = TypedDict(
    "StoredInboundMessageContactsItemUrlsItem",
    {
        #: The link.
        "url": Optional[str],
        #: The kind of link, such as `HOME` or `WORK`.
        "type": Optional[str],
    },
)

StoredInboundMessageContactsItem = TypedDict(
    "StoredInboundMessageContactsItem",
    {
        #: The full name, as the card shows it.
        "name": Optional[str],
        #: The phone numbers on the card.
        "phones": List[StoredInboundMessageContactsItemPhonesItem],
        #: The email addresses on the card.
        "emails": List[StoredInboundMessageContactsItemEmailsItem],
        #: Where the person works.
        "org": Optional[StoredInboundMessageContactsItemOrg],
        #: The postal addresses on the card.
        "addresses": List[StoredInboundMessageContactsItemAddressesItem],
        #: The links on the card.
        "urls": List[StoredInboundMessageContactsItemUrlsItem],
        #: The date of birth, as it is written on the card: usually `YYYY-MM-DD`.
        "birthday": Optional[str],
        #: `contact_request` if the contact shared their own number because you asked for it, `other` for any other card.
        "origin": Optional[str],
    },
)

StoredInboundMessageOrderItemsItem = TypedDict(
    "StoredInboundMessageOrderItemsItem",
    {
        #: Your ID of the product.
        "product_retailer_id": str,
        #: How many. Null if WhatsApp sent no valid number.
        "quantity": Optional[int],
        #: The price of one. Null if WhatsApp sent no valid price.
        "item_price": Optional[float],
        #: The currency of the price.
        "currency": Optional[str],
    },
)

StoredInboundMessageOrder = TypedDict(
    "StoredInboundMessageOrder",
    {
        #: The catalog.
        "catalog_id": Optional[str],
        #: The note that the contact wrote with the order.
        "text": Optional[str],
        #: The ordered products.
        "items": List[StoredInboundMessageOrderItemsItem],
    },
)

StoredInboundMessageReaction = TypedDict(
    "StoredInboundMessageReaction",
    {
        #: The emoji. Null if the contact removed the reaction.
        "emoji": Optional[str],
        #: WhatsApp's ID of the message that the contact reacted to. Null only if WhatsApp did not send it.
        "wa_message_id": Optional[str],
        #: The ID of that message. Null unless this workspace sent it.
        "message_id": Optional[str],
    },
)

StoredInboundMessageReferralWelcomeMessage = TypedDict(
    "StoredInboundMessageReferralWelcomeMessage",
    {
        #: The text.
        "text": Optional[str],
    },
)

StoredInboundMessageReferral = TypedDict(
    "StoredInboundMessageReferral",
    {
        #: Where the contact came from: `ad` or `post`.
        "source_type": Optional[str],
        #: Meta's ID of the ad or the post.
        "source_id": Optional[str],
        #: A link to the ad or the post.
        "source_url": Optional[str],
        #: The headline of the ad or the post.
        "headline": Optional[str],
        #: The text of the ad or the post.
        "body": Optional[str],
        #: Meta's click ID, for reporting conversions.
        "ctwa_clid": Optional[str],
        #: The media of the ad or the post: `image` or `video`.
        "media_type": Optional[str],
        #: The image of the ad or the post.
        "image_url": Optional[str],
        #: The video of the ad or the post.
        "video_url": Optional[str],
        #: The preview image of the video.
        "thumbnail_url": Optional[str],
        #: The value that you set in the link of the ad.
        "ref": Optional[str],
        #: The welcome message that the ad showed.
        "welcome_message": Optional[StoredInboundMessageReferralWelcomeMessage],
    },
)

StoredInboundMessageReferredProduct = TypedDict(
    "StoredInboundMessageReferredProduct",
    {
        #: The catalog.
        "catalog_id": Optional[str],
        #: Your ID of the product.
        "product_retailer_id": Optional[str],
    },
)

StoredInboundMessageEdit = TypedDict(
    "StoredInboundMessageEdit",
    {
        #: WhatsApp's ID of the changed message. Null only if WhatsApp did not send it.
        "wa_message_id": Optional[str],
        #: The ID of that message, sent or received. Null if it is not known.
        "message_id": Optional[str],
        #: The new text or caption.
        "text": Optional[str],
    },
)

StoredInboundMessageDeletion = TypedDict(
    "StoredInboundMessageDeletion",
    {
        #: WhatsApp's ID of the changed message. Null only if WhatsApp did not send it.
        "wa_message_id": Optional[str],
        #: The ID of that message, sent or received. Null if it is not known.
        "message_id": Optional[str],
    },
)

StoredInboundMessageUnsupported = TypedDict(
    "StoredInboundMessageUnsupported",
    {
        #: WhatsApp's name for the kind of message, such as `poll_creation` or `edit`.
        "type": Optional[str],
        #: WhatsApp's error code.
        "code": Optional[int],
        #: What the code means.
        "title": Optional[str],
        #: WhatsApp's own object of that type, as it arrived. Null if it sent none. Its fields are not checked.
        "content": Optional[Dict[str, Any]],
    },
)

StoredInboundMessage = TypedDict(
    "StoredInboundMessage",
    {
        #: The ID of the message.
        "message_id": str,
        #: The object type.
        "object": Literal["inbound_message"],
        #: WhatsApp's ID of the message. Null if the contact was erased: the ID contains their number.
        "wa_message_id": Optional[str],
        #: The contact's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the contact, unique within your business. Identifies the contact if `from` is null.
        "from_user_id": Optional[str],
        #: WhatsApp's ID of the contact across your business portfolios. Null unless yours are linked.
        "from_parent_user_id": Optional[str],
        #: The profile name that the contact chose. It is not verified.
        "profile_name": Optional[str],
        #: The number that received the message.
        "sender_id": str,
        #: The message type: `text`, `image`, `video`, `document`, `audio`, `sticker`, `location`, `button`, `interactive`, `contacts`, `order`, `unsupported`. Types may be added; treat an unknown one as `unsupported`.
        "type": str,
        #: The text, the caption, or the label of the tapped button. Null for locations, contacts, orders and submitted forms.
        "text": Optional[str],
        #: When the message was sent, according to WhatsApp. ISO 8601, UTC.
        "received_at": str,
        #: The message that this message replies to. Set if the contact used WhatsApp's reply feature.
        "in_reply_to": Optional[StoredInboundMessageInReplyTo],
        #: The tapped button or list row. Set for `button`, and for `interactive` except submitted forms.
        "reply": Optional[StoredInboundMessageReply],
        #: The file. Set for `image`, `video`, `audio`, `document` and `sticker`.
        "media": Optional[StoredInboundMessageMedia],
        #: The location. Set for `location`.
        "location": Optional[StoredInboundMessageLocation],
        #: The contact's username on WhatsApp, without `@`. Null if they have none.
        "username": Optional[str],
        #: The group that the message was written in. Null for a private message. Do not reply to `from`: the contact wrote to the group.
        "group_id": Optional[str],
        #: True if WhatsApp says that the message was forwarded.
        "forwarded": bool,
        #: The shared contact cards. Set for `contacts`.
        "contacts": Optional[List[StoredInboundMessageContactsItem]],
        #: The order. Set for `order`.
        "order": Optional[StoredInboundMessageOrder],
        #: The reaction. Its `type` is `unsupported`.
        "reaction": Optional[StoredInboundMessageReaction],
        #: The ad or the post that the contact tapped before writing. It can come with any type.
        "referral": Optional[StoredInboundMessageReferral],
        #: The product that the message asks about.
        "referred_product": Optional[StoredInboundMessageReferredProduct],
        #: The edit of an earlier message. Its `type` is `unsupported`.
        "edit": Optional[StoredInboundMessageEdit],
        #: The deletion of an earlier message. Its `type` is `unsupported`.
        "deletion": Optional[StoredInboundMessageDeletion],
        #: Why the type is `unsupported`. Null for a reaction and for all other types.
        "unsupported": Optional[StoredInboundMessageUnsupported],
        #: True if another app or Meta's agent handles the conversation, and this service only listens.
        "standby": bool,
        #: The end of the 24 hours in which WhatsApp accepts any message to this contact. They begin with the latest private message of the contact to this sender. For information: WhatsApp decides. Null for a message in a group.
        "window_expires_at": Optional[str],
    },
)

FlowResponseFilesItem = TypedDict(
    "FlowResponseFilesItem",
    {
        #: The field of the form that the file was uploaded to.
        "field": str,
        #: The index to use in `GET /v1/flow_responses/{id}/files/{index}`.
        "index": int,
        #: The original file name, chosen by the submitter. Do not use it as a file path.
        "file_name": str,
        #: The media type of the file.
        "mime_type": str,
    },
)

FlowResponse = TypedDict(
    "FlowResponse",
    {
        #: The ID of the form submission.
        "id": str,
        #: The object type.
        "object": Literal["flow_response"],
        #: The ID of the inbound message that contained the submission.
        "message_id": str,
        #: The submitter's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the submitter, unique within your business.
        "from_user_id": Optional[str],
        #: The token that you set when sending, or a generated one. Null if the device did not return it.
        "flow_token": Optional[str],
        #: WhatsApp's ID of the form. Null if it is not known.
        "flow_id": Optional[str],
        #: The ID of the message that contained the form, `msg_<uuid>`. Null if it is not known.
        "source_message_id": Optional[str],
        #: The ID of the template that contained the form, `tpl_<uuid>`. Null if it was not a template.
        "template_id": Optional[str],
        #: The submitted values, by the field names of the form. A submission that is not a JSON object is kept unchanged in the single field `response_json`. Numbers are exactly as WhatsApp sent them; many JSON parsers round integers beyond 2^53. Null if they were removed.
        "response": Optional[Dict[str, Any]],
        #: The uploaded files. Download each with `GET /v1/flow_responses/{id}/files/{index}`.
        "files": List[FlowResponseFilesItem],
        #: When the form was submitted, according to WhatsApp. ISO 8601, UTC.
        "received_at": str,
        #: When the submitted values, files and file names were removed: they are older than this installation keeps contents, or the person was erased. Null if they are available.
        "content_removed_at": Optional[str],
    },
)

Media = TypedDict(
    "Media",
    {
        #: The ID of the file. Use it as `image.id`, `video.id` and so on in `POST /v1/messages`.
        "id": str,
        #: The object type.
        "object": Literal["media"],
        #: The media type, as you sent it, without parameters.
        "mime_type": str,
        #: The size in bytes.
        "size": int,
        #: The SHA-256 hash of the file, in hex.
        "sha256": str,
        #: When the file was uploaded. ISO 8601, UTC.
        "created_at": str,
        #: Until when the file can be sent. It is deleted afterwards. ISO 8601, UTC.
        "expires_at": str,
    },
)

MessageSentEventData = TypedDict(
    "MessageSentEventData",
    {
        #: The ID of the message.
        "message_id": str,
        #: The recipient's phone number in international format, digits only. Null if the message was sent to a user ID, or the contact was erased.
        "to": Optional[str],
        #: WhatsApp's ID of the recipient. Null if it is not known.
        "to_user_id": Optional[str],
        #: The new status of the message. It matches the event type.
        "status": Union[Literal["sent"], Literal["delivered"], Literal["read"], Literal["failed"]],
        #: WhatsApp's ID of the message. Null only on `message.failed`, if WhatsApp rejected the send request, and if the contact was erased.
        "wa_message_id": Optional[str],
        #: When the status changed. ISO 8601, UTC. WhatsApp reports whole seconds; the milliseconds keep sent, delivered and read in order. Events may arrive out of order; sort them by this time.
        "occurred_at": str,
        #: Why the message failed. Null unless `status` is `failed`.
        "error": Optional[MessageError],
        #: How WhatsApp billed the message. Null while it is not known.
        "pricing": Optional[MessagePricing],
        #: Your own reference, as you set it when sending. Null if you set none.
        "reference": Optional[str],
    },
)

MessageSentEvent = TypedDict(
    "MessageSentEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.sent"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": MessageSentEventData,
    },
)

MessageDeliveredEvent = TypedDict(
    "MessageDeliveredEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.delivered"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": MessageSentEventData,
    },
)

MessageReadEvent = TypedDict(
    "MessageReadEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.read"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": MessageSentEventData,
    },
)

MessageFailedEvent = TypedDict(
    "MessageFailedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.failed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": MessageSentEventData,
    },
)

MessageReceivedEventData = TypedDict(
    "MessageReceivedEventData",
    {
        #: The ID of the message.
        "message_id": str,
        #: WhatsApp's ID of the message.
        "wa_message_id": str,
        #: The contact's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the contact, unique within your business. Identifies the contact if `from` is null.
        "from_user_id": Optional[str],
        #: WhatsApp's ID of the contact across your business portfolios. Null unless yours are linked.
        "from_parent_user_id": Optional[str],
        #: The profile name that the contact chose. It is not verified.
        "profile_name": Optional[str],
        #: The number that received the message.
        "sender_id": str,
        #: The message type: `text`, `image`, `video`, `document`, `audio`, `sticker`, `location`, `button`, `interactive`, `contacts`, `order`, `unsupported`. Types may be added; treat an unknown one as `unsupported`.
        "type": str,
        #: The text, the caption, or the label of the tapped button. Null for locations, contacts, orders and submitted forms.
        "text": Optional[str],
        #: When the message was sent, according to WhatsApp. ISO 8601, UTC.
        "received_at": str,
        #: The message that this message replies to. Set if the contact used WhatsApp's reply feature.
        "in_reply_to": Optional[StoredInboundMessageInReplyTo],
        #: The tapped button or list row. Set for `button`, and for `interactive` except submitted forms.
        "reply": Optional[StoredInboundMessageReply],
        #: The file. Set for `image`, `video`, `audio`, `document` and `sticker`.
        "media": Optional[StoredInboundMessageMedia],
        #: The location. Set for `location`.
        "location": Optional[StoredInboundMessageLocation],
        #: The contact's username on WhatsApp, without `@`. Null if they have none.
        "username": Optional[str],
        #: The group that the message was written in. Null for a private message. Do not reply to `from`: the contact wrote to the group.
        "group_id": Optional[str],
        #: True if WhatsApp says that the message was forwarded.
        "forwarded": bool,
        #: The shared contact cards. Set for `contacts`.
        "contacts": Optional[List[StoredInboundMessageContactsItem]],
        #: The order. Set for `order`.
        "order": Optional[StoredInboundMessageOrder],
        #: The reaction. Its `type` is `unsupported`.
        "reaction": Optional[StoredInboundMessageReaction],
        #: The ad or the post that the contact tapped before writing. It can come with any type.
        "referral": Optional[StoredInboundMessageReferral],
        #: The product that the message asks about.
        "referred_product": Optional[StoredInboundMessageReferredProduct],
        #: The edit of an earlier message. Its `type` is `unsupported`.
        "edit": Optional[StoredInboundMessageEdit],
        #: The deletion of an earlier message. Its `type` is `unsupported`.
        "deletion": Optional[StoredInboundMessageDeletion],
        #: Why the type is `unsupported`. Null for a reaction and for all other types.
        "unsupported": Optional[StoredInboundMessageUnsupported],
        #: True if another app or Meta's agent handles the conversation, and this service only listens.
        "standby": bool,
    },
)

MessageReceivedEvent = TypedDict(
    "MessageReceivedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.received"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        #: An inbound message. Every field is always present; fields that do not apply are null.
        "data": MessageReceivedEventData,
    },
)

MessageEchoedEventData = TypedDict(
    "MessageEchoedEventData",
    {
        #: The ID of the message.
        "message_id": str,
        #: WhatsApp's ID of the message.
        "wa_message_id": str,
        #: The profile name that the recipient chose. It is not verified.
        "profile_name": Optional[str],
        #: The number that the message was sent from.
        "sender_id": str,
        #: The message type: `text`, `image`, `video`, `document`, `audio`, `sticker`, `location`, `button`, `interactive`, `contacts`, `order`, `unsupported`. Types may be added; treat an unknown one as `unsupported`.
        "type": str,
        #: The text, the caption, or the label of the tapped button. Null for locations, contacts, orders and submitted forms.
        "text": Optional[str],
        #: When the message was sent, according to WhatsApp. ISO 8601, UTC.
        "received_at": str,
        #: The message that this message replies to. Set if the contact used WhatsApp's reply feature.
        "in_reply_to": Optional[StoredInboundMessageInReplyTo],
        #: The tapped button or list row. Set for `button`, and for `interactive` except submitted forms.
        "reply": Optional[StoredInboundMessageReply],
        #: The file. Set for `image`, `video`, `audio`, `document` and `sticker`.
        "media": Optional[StoredInboundMessageMedia],
        #: The location. Set for `location`.
        "location": Optional[StoredInboundMessageLocation],
        #: The recipient's username on WhatsApp, without `@`. Null if they have none.
        "username": Optional[str],
        #: The group that the message was written in. Null for a private message. Do not reply to `from`: the contact wrote to the group.
        "group_id": Optional[str],
        #: True if WhatsApp says that the message was forwarded.
        "forwarded": bool,
        #: The shared contact cards. Set for `contacts`.
        "contacts": Optional[List[StoredInboundMessageContactsItem]],
        #: The order. Set for `order`.
        "order": Optional[StoredInboundMessageOrder],
        #: The reaction. Its `type` is `unsupported`.
        "reaction": Optional[StoredInboundMessageReaction],
        #: The ad or the post that the contact tapped before writing. It can come with any type.
        "referral": Optional[StoredInboundMessageReferral],
        #: The product that the message asks about.
        "referred_product": Optional[StoredInboundMessageReferredProduct],
        #: The edit of an earlier message. Its `type` is `unsupported`.
        "edit": Optional[StoredInboundMessageEdit],
        #: The deletion of an earlier message. Its `type` is `unsupported`.
        "deletion": Optional[StoredInboundMessageDeletion],
        #: Why the type is `unsupported`. Null for a reaction and for all other types.
        "unsupported": Optional[StoredInboundMessageUnsupported],
        #: True if another app or Meta's agent handles the conversation, and this service only listens.
        "standby": bool,
        #: The recipient's phone number, digits only. Null if WhatsApp does not provide it.
        "to": Optional[str],
        #: WhatsApp's ID of the recipient, unique within your business.
        "to_user_id": Optional[str],
        #: WhatsApp's ID of the recipient across your business portfolios. Null unless yours are linked.
        "to_parent_user_id": Optional[str],
        #: Where the business wrote it: `business_app` (the WhatsApp Business app), `agent` (an agent of Meta) or `other`. Values may be added.
        "source": str,
    },
)

MessageEchoedEvent = TypedDict(
    "MessageEchoedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["message.echoed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        #: A message that the business sent without this service. The fields are those of an inbound message.
        "data": MessageEchoedEventData,
    },
)

FlowCompletedEventData = TypedDict(
    "FlowCompletedEventData",
    {
        #: The ID of the form submission.
        "id": str,
        #: The ID of the inbound message that contained the submission.
        "message_id": str,
        #: The submitter's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the submitter, unique within your business.
        "from_user_id": Optional[str],
        #: The token that you set when sending, or a generated one. Null if the device did not return it.
        "flow_token": Optional[str],
        #: WhatsApp's ID of the form. Null if it is not known.
        "flow_id": Optional[str],
        #: The ID of the message that contained the form, `msg_<uuid>`. Null if it is not known.
        "source_message_id": Optional[str],
        #: The ID of the template that contained the form, `tpl_<uuid>`. Null if it was not a template.
        "template_id": Optional[str],
        #: The submitted values, by the field names of the form. Numbers are exactly as WhatsApp sent them; many JSON parsers round integers beyond 2^53.
        "response": Dict[str, Any],
        #: The uploaded files. Download each with `GET /v1/flow_responses/{id}/files/{index}`.
        "files": List[FlowResponseFilesItem],
        #: When the form was submitted, according to WhatsApp. ISO 8601, UTC.
        "received_at": str,
    },
)

FlowCompletedEvent = TypedDict(
    "FlowCompletedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["flow.completed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": FlowCompletedEventData,
    },
)

TemplateStatusChangedEventData = TypedDict(
    "TemplateStatusChangedEventData",
    {
        #: The ID of the template.
        "template_id": str,
        #: The name of the template.
        "name": str,
        #: The language code of the template.
        "language": str,
        #: The new status: `APPROVED`, `PENDING`, `REJECTED`, `PAUSED`, `DISABLED`, `IN_APPEAL`, `PENDING_DELETION`, `DELETED`, `LIMIT_EXCEEDED`, `ARCHIVED`, `FLAGGED`, `LOCKED`; values may be added. Only `APPROVED` can be sent.
        "status": str,
        #: The status until this event. `PENDING` for a new template.
        "previous_status": str,
        #: Why, as far as WhatsApp says: for a rejection, its reason.
        "reason": Optional[str],
    },
)

TemplateStatusChangedEvent = TypedDict(
    "TemplateStatusChangedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["template.status_changed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": TemplateStatusChangedEventData,
    },
)

SenderStatusChangedEventData = TypedDict(
    "SenderStatusChangedEventData",
    {
        #: The ID of the sender.
        "sender_id": str,
        #: The new status: `CONNECTED`, `PENDING`, `DISCONNECTED`, `FLAGGED`, `RESTRICTED`, `RATE_LIMITED`, `BANNED`, `MIGRATED`, `DELETED`, `UNVERIFIED`, `UNKNOWN`; values may be added. Only `CONNECTED` can send.
        "status": str,
        #: The status until this event. Equal to `status` if only the quality rating changed.
        "previous_status": str,
        #: WhatsApp's quality rating of the number: `GREEN`, `YELLOW`, `RED`, `UNKNOWN`; values may be added.
        "quality_rating": str,
        #: Why, as far as WhatsApp says.
        "reason": Optional[str],
    },
)

SenderStatusChangedEvent = TypedDict(
    "SenderStatusChangedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["sender.status_changed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": SenderStatusChangedEventData,
    },
)

ContactPreferenceChangedEventData = TypedDict(
    "ContactPreferenceChangedEventData",
    {
        #: The contact's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the contact, unique within your business.
        "from_user_id": Optional[str],
        #: The ID of the sender that the choice is about.
        "sender_id": str,
        #: `stop`: the contact wants no marketing messages from this sender. `resume`: the contact wants them again.
        "marketing": Union[Literal["stop"], Literal["resume"]],
    },
)

ContactPreferenceChangedEvent = TypedDict(
    "ContactPreferenceChangedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["contact.preference_changed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": ContactPreferenceChangedEventData,
    },
)

ConversationControlChangedEventData = TypedDict(
    "ConversationControlChangedEventData",
    {
        #: The contact's phone number, digits only. Null if WhatsApp does not provide it.
        "from": Optional[str],
        #: WhatsApp's ID of the contact, unique within your business.
        "from_user_id": Optional[str],
        #: The ID of the sender.
        "sender_id": str,
        #: `passed`: the previous owner handed the conversation over. `taken`: the new owner took it.
        "change": Union[Literal["passed"], Literal["taken"]],
        #: Who handled the conversation before: the role or the app ID that WhatsApp names.
        "previous_owner": Optional[str],
        #: Who handles the conversation now: the role or the app ID that WhatsApp names.
        "new_owner": Optional[str],
        #: When the change happened, according to WhatsApp. ISO 8601, UTC.
        "occurred_at": str,
    },
)

ConversationControlChangedEvent = TypedDict(
    "ConversationControlChangedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["conversation.control_changed"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": ConversationControlChangedEventData,
    },
)

HistoryImportedEventData = TypedDict(
    "HistoryImportedEventData",
    {
        #: The ID of the sender whose conversations were imported.
        "sender_id": str,
        #: Which part of the history: 0 is the last day, 1 the last 90 days, 2 everything before. Null if WhatsApp does not say.
        "phase": Optional[int],
        #: How much of the history has arrived, in percent. 100 with the last chunk. Null if WhatsApp does not say.
        "progress": Optional[int],
        #: How many messages of this chunk were new.
        "messages": int,
    },
)

HistoryImportedEvent = TypedDict(
    "HistoryImportedEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["history.imported"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": HistoryImportedEventData,
    },
)

WebhookDisabledEventData = TypedDict(
    "WebhookDisabledEventData",
    {
        #: The ID of the disabled webhook.
        "webhook_id": str,
        #: Its name.
        "name": str,
        #: Its URL.
        "url": str,
        #: The last failure, or the reason that the user who disabled it entered.
        "reason": str,
        #: When the first of the failed attempts in a row ended. Null if the last attempt succeeded.
        "failing_since": Optional[str],
    },
)

WebhookDisabledEvent = TypedDict(
    "WebhookDisabledEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["webhook.disabled"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": WebhookDisabledEventData,
    },
)

CreditsLowEventData = TypedDict(
    "CreditsLowEventData",
    {
        #: The credits that are left.
        "balance": int,
        #: The workspace's low-credit warning. Change it under Credits in the console.
        "threshold": int,
    },
)

CreditsLowEvent = TypedDict(
    "CreditsLowEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["credits.low"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": CreditsLowEventData,
    },
)

NetworkUpdateEventData = TypedDict(
    "NetworkUpdateEventData",
    {
        #: The ID of the update.
        "update_id": str,
        #: WhatsApp's name of the change, such as `calls`. `unknown` if it has none.
        "field": str,
        #: The sender that the update is about. Null if it names none.
        "sender_id": Optional[str],
        #: `unknown_field`: a field that Parley does not read. `not_understood`: nothing in it could be read. `partly_understood`: some of it was read, and published as other events. `notice`: a notice that changes nothing in Parley, or less than it says.
        "outcome": str,
        #: The change as WhatsApp sent it. Its format is that of WhatsApp.
        "value": Any,
    },
)

NetworkUpdateEvent = TypedDict(
    "NetworkUpdateEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["network.update"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": NetworkUpdateEventData,
    },
)

WebhookTestEventData = TypedDict(
    "WebhookTestEventData",
    {
        #: Always true.
        "test": Literal[True],
        #: The event type that the test event shows.
        "example_of": str,
        #: An example of `data` for that event type. Its IDs do not exist.
        "example": Dict[str, Any],
    },
)

WebhookTestEvent = TypedDict(
    "WebhookTestEvent",
    {
        #: The ID of the event. Use it to ignore duplicates.
        "id": str,
        #: The event type.
        "type": Literal["webhook.test"],
        #: When the event was created. ISO 8601, UTC.
        "created_at": str,
        "data": WebhookTestEventData,
    },
)

#: An event; `type` determines the type of `data`.
Event = Union[
    MessageSentEvent,
    MessageDeliveredEvent,
    MessageReadEvent,
    MessageFailedEvent,
    MessageReceivedEvent,
    MessageEchoedEvent,
    FlowCompletedEvent,
    TemplateStatusChangedEvent,
    SenderStatusChangedEvent,
    ContactPreferenceChangedEvent,
    ConversationControlChangedEvent,
    HistoryImportedEvent,
    WebhookDisabledEvent,
    CreditsLowEvent,
    NetworkUpdateEvent,
    WebhookTestEvent,
]
