/** WhatsApp's error codes, as API errors and `failed` statuses report them. */
export interface KnownError {
  code: number
  status: number
  title: string
  details?: string
  /** Graph-level errors do not repeat their code in the message and carry no error_data. */
  plain?: boolean
  transient?: boolean
  subcode?: number
  /** What WhatsApp shows to people: some errors of templates have it. */
  userTitle?: string
  userMessage?: string
}

const rows: [code: number, status: number, title: string, details?: string | undefined, more?: Partial<KnownError>][] =
  [
    [0, 401, 'AuthException', 'We were unable to authenticate the app user.'],
    [1, 400, 'Invalid request or possible server error.', undefined, { plain: true }],
    [
      2,
      503,
      'An unexpected error has occurred. Please retry your request later.',
      undefined,
      { plain: true, transient: true },
    ],
    [3, 500, 'API Method', 'Capability or permissions issue.'],
    [4, 400, 'Application request limit reached', undefined, { transient: true }],
    [10, 403, 'Permission Denied', 'Permission is either not granted or has been removed.'],
    [15, 400, 'This method must be called with an app access_token.'],
    [33, 400, 'Parameter value is not valid', 'The business phone number has been deleted.'],
    [100, 400, 'Invalid parameter', 'The request included one or more unsupported or misspelled parameters.'],
    [
      101,
      400,
      'Error validating application. Cannot get application info due to a system error.',
      undefined,
      { plain: true },
    ],
    [190, 401, 'Invalid OAuth access token - Cannot parse access token', undefined, { plain: true }],
    [200, 403, 'API Permission', 'Permission is either not granted or has been removed.'],
    [
      368,
      403,
      'Temporarily blocked for policies violations',
      'The WhatsApp Business Account associated with the app has been restricted or disabled for violating a platform policy.',
    ],
    [613, 400, 'Calls to this api have exceeded the rate limit.'],
    [80007, 400, 'There have been too many calls to this WhatsApp Business account. Wait a bit and try again.'],
    [80008, 400, 'There have been too many calls to this WhatsApp Business account. Wait a bit and try again.'],
    [130429, 400, 'Rate limit hit', 'Cloud API message throughput has been reached.'],
    [
      130472,
      400,
      "User's number is part of an experiment",
      "Failed to send message because this user's phone number is part of an experiment.",
    ],
    [
      130497,
      403,
      'Business account is restricted from messaging users in this country.',
      'Business account is restricted from messaging users in this country.',
    ],
    [131000, 500, 'Something went wrong', 'Message failed to send due to an unknown error.'],
    [131005, 403, 'Access denied', 'Permission is either not granted or has been removed.'],
    [131008, 400, 'Required parameter is missing', 'The request is missing a required parameter.'],
    [131009, 400, 'Parameter value is not valid', 'One or more parameter values are invalid.'],
    [131016, 500, 'Service unavailable', 'A service is temporarily unavailable.'],
    [131021, 400, 'Recipient cannot be sender', 'Sender and recipient phone number is the same.'],
    [131026, 400, 'Message undeliverable', 'Message Undeliverable.'],
    [
      131030,
      400,
      'Recipient phone number not in allowed list',
      'Recipient phone number not in allowed list: Add recipient phone number to recipient list and try again.',
    ],
    [
      131031,
      403,
      'Business Account locked',
      'The WhatsApp Business Account associated with the app has been restricted or disabled for violating a platform policy, or we were unable to verify data included in the request against data set on the WhatsApp Business Account.',
    ],
    [
      131036,
      400,
      'Message not delivered',
      'The message could not be delivered to one of the devices of the recipient.',
    ],
    [
      131037,
      400,
      'WhatsApp provided number needs display name approval before message can be sent.',
      'The display name of the 555 business phone number is not approved.',
    ],
    [
      131042,
      400,
      'Business eligibility payment issue',
      'Message failed to send because there were one or more errors related to your payment method.',
    ],
    [131045, 500, 'Incorrect certificate', 'Message failed to send due to a phone number registration error.'],
    [
      131047,
      400,
      'Re-engagement message',
      'Message failed to send because more than 24 hours have passed since the customer last replied to this number.',
    ],
    [
      131048,
      400,
      'Spam rate limit hit',
      'Message failed to send because there are restrictions on how many messages can be sent from this phone number. This may be because too many previous messages were blocked or flagged as spam.',
    ],
    [
      131049,
      400,
      'This message was not delivered to maintain healthy ecosystem engagement.',
      'In order to maintain a healthy ecosystem engagement, the message failed to be delivered.',
    ],
    [
      131050,
      400,
      'User has stopped marketing messages',
      'Unable to deliver the message. This recipient has chosen to stop receiving marketing messages on WhatsApp from your business.',
    ],
    [131051, 400, 'Unsupported message type', 'Message type is currently not supported.'],
    [131052, 400, 'Media download error', 'Unable to download the media sent by the user.'],
    [131053, 400, 'Media upload error', 'Unable to upload the media used in the message.'],
    [
      131056,
      400,
      '(Business Account, Consumer Account) pair rate limit hit',
      'Message failed to send because there were too many messages sent from this phone number to the same phone number in a short period of time.',
    ],
    [131057, 500, 'Account in maintenance mode', 'Business Account is in maintenance mode.'],
    [131060, 400, 'This message is currently unavailable.', 'This message is currently unavailable.'],
    [
      131062,
      400,
      'Recipient is not supported for this message',
      'Business-scoped user IDs are not supported for this message type. Use the phone number of the user.',
    ],
    [
      131063,
      400,
      'Marketing templates are disabled',
      'Marketing templates cannot be sent with the Cloud API on this account.',
    ],
    [131064, 400, 'Messaging limit reached', 'The messaging limit of this business has been reached.'],
    [132000, 400, 'Number of parameters does not match the expected number of params'],
    [132001, 404, 'Template name does not exist in the translation'],
    [132005, 400, 'Translated text too long'],
    [132007, 400, 'Template format character policy violated', 'Template content violates a WhatsApp policy.'],
    [132008, 400, 'Parameter value is not valid'],
    [132012, 400, 'Parameter format does not match format in the created template'],
    [
      132015,
      400,
      'Template is paused',
      'Template is paused due to low quality so it cannot be sent in a template message.',
    ],
    [
      132016,
      400,
      'Template is disabled',
      'Template has been paused too many times due to low quality and is now permanently disabled.',
    ],
    [
      132018,
      400,
      "There's an issue with the parameters in your template",
      'Param text cannot have new-line/tab characters or more than 4 consecutive spaces',
    ],
    [132068, 400, 'Flow is in blocked state', 'Flow is in blocked state.'],
    [
      132069,
      400,
      'Flow is in throttled state',
      'Flow is in throttled state and 10 messages using this flow were already sent in the last hour.',
    ],
    [133004, 503, 'Server Temporarily Unavailable', 'Server is temporarily unavailable.'],
    [133005, 400, 'Two step verification PIN Mismatch', 'Two-step verification PIN incorrect.'],
    [133006, 400, 'Phone number re-verification needed', 'Phone number needs to be verified before registering.'],
    [133010, 400, 'Account not registered', 'The phone number is not registered on the Whatsapp Business Platform.'],
    [
      133015,
      400,
      'Please wait a few minutes before attempting to register this phone number',
      'The phone number you are attempting to register was recently deleted, and deletion has not yet completed.',
    ],
    [
      133016,
      400,
      'Account register deregister rate limit exceeded',
      'Registration or Deregistration failed because there were too many attempts for this phone number in a short period of time.',
    ],
    [
      135000,
      400,
      'Generic user error',
      'Message failed to send because of an unknown error with your request parameters.',
    ],
    [136024, 400, 'Request code error', 'The code could not be sent. Try again later, or with another method.'],
    [136025, 400, 'Verify code error', 'The code you entered is incorrect.'],
    [137000, 400, 'User identity key hash mismatch', 'The recipient identity key hash does not match.'],
    [2500, 400, 'Unknown path components', undefined, { plain: true }],
  ]

const known = new Map(
  rows.map(([code, status, title, details, more]) => [
    code,
    { code, status, title, ...(details === undefined ? {} : { details }), ...more } as KnownError,
  ]),
)

export function knownError(code: number): KnownError | undefined {
  return known.get(code)
}

export function knownCodes(): number[] {
  return [...known.keys()]
}
