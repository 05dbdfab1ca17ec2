import type { Scope } from '@parley/contract/scopes'
import { serviceNow } from '../../lib/clock.ts'
import { formatDay, localDay } from '../../lib/format.ts'
import type { FieldProps, Form } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { CheckboxGroups } from '../../ui/checkbox-groups.tsx'
import { NumberInput, SegmentedControl, Slider, TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import type { ExpiryKind, KeyDraft } from './key-form.ts'
import styles from './keys.module.css'
import { useMyAddress } from './keys.queries.ts'
import { everywhereWarning, rangesProblem } from './ranges.ts'

const details = {
  'senders:read': 'List sender phone numbers',
  'templates:read': 'List templates and their variables',
  'messages:read': 'Read the status of messages sent with this key',
  'webhooks:read': 'Read webhooks',
  'inbound:read': 'Read received messages and download their files',
  'flow_responses:read': 'Read form submissions and download their files',
  'events:read': 'Read events, as webhooks deliver them',
  'messages:send': 'Send messages, which costs credits',
} as const satisfies Record<Scope, string>

const choices = (scopes: readonly Scope[]) =>
  scopes.map((scope) => ({ value: scope, title: scope, detail: details[scope] }))

const everyScope = Object.keys(details)
const groups = [
  { title: 'Write', choices: choices(['messages:send']) },
  {
    title: 'Read',
    choices: choices([
      'messages:read',
      'inbound:read',
      'templates:read',
      'senders:read',
      'flow_responses:read',
      'webhooks:read',
      'events:read',
    ]),
  },
]
const presets = [
  { title: 'Send and track', value: ['messages:send', 'messages:read', 'templates:read', 'senders:read'] },
  { title: 'Read only', value: everyScope.filter((scope) => scope.endsWith(':read')) },
  { title: 'All', value: everyScope },
]

/** The fields to create or edit a key. `expiresAt` is its current expiry, which cannot be changed once it has passed. */
export function KeyFields({ form, expiresAt = null }: { form: Form<KeyDraft>; expiresAt?: string | null }) {
  const hasExpired = expiresAt !== null && Date.parse(expiresAt) <= serviceNow()
  return (
    <Stack gap={5}>
      <TextInput
        label="Name"
        description="Use one key per system, so you can identify and revoke each one separately."
        placeholder="Order service"
        withAsterisk
        {...form.text('name')}
        maxLength={100}
        autoComplete="off"
        data-autofocus
      />
      <CheckboxGroups label="Scopes" groups={groups} presets={presets} {...form.field('scopes')} />
      <RateField {...form.field('rate_limit_per_min')} />
      {!hasExpired && <ExpiryField {...form.field('expires_at')} expiresAt={expiresAt} />}
      <RangesField {...form.field('ip_allow_list')} />
    </Stack>
  )
}

function RateField({ value: rate, error, onChange }: FieldProps<number>) {
  return (
    <div>
      <div className={styles.rate}>
        <NumberInput
          label="Rate limit per minute"
          value={rate}
          error={error}
          min={1}
          max={100}
          allowDecimal={false}
          clampBehavior="strict"
          w={150}
          onChange={(value) => onChange(Number(value) || 1)}
        />
        <Slider
          className={styles.slider ?? ''}
          thumbLabel="Rate limit per minute"
          min={1}
          max={100}
          value={rate}
          onChange={onChange}
          marks={[
            { value: 1, label: '1' },
            { value: 30, label: '30' },
            { value: 60, label: '60' },
            { value: 100, label: '100' },
          ]}
          label={null}
        />
      </div>
    </div>
  )
}

const expiryOptions: { value: ExpiryKind; label: string }[] = [
  { value: 'never', label: 'Never' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: '1 year' },
  { value: 'date', label: 'Date…' },
]

function ExpiryField({
  value: { kind, day },
  error,
  onChange,
  expiresAt,
}: FieldProps<KeyDraft['expires_at']> & { expiresAt: string | null }) {
  const current: typeof expiryOptions = expiresAt ? [{ value: 'unchanged', label: formatDay(expiresAt) }] : []
  return (
    <div>
      <div className={styles.label} id="expiry-label">
        Expires
      </div>
      <SegmentedControl
        aria-labelledby="expiry-label"
        data={[...current, ...expiryOptions]}
        value={kind}
        onChange={(next) => onChange({ kind: next as ExpiryKind, day })}
        fullWidth
      />
      {kind === 'date' && (
        <TextInput
          mt={8}
          type="date"
          aria-label="Expiry date"
          description="The key works until the end of this day."
          value={day}
          error={error}
          min={localDay(new Date())}
          onChange={(event) => onChange({ kind, day: event.currentTarget.value })}
        />
      )}
      {kind !== 'date' && error && (
        <div role="alert" className={styles.fault}>
          {error}
        </div>
      )}
    </div>
  )
}

function RangesField({ value: ranges, error, onChange }: FieldProps<string[]>) {
  const mine = useMyAddress()
  const problem = rangesProblem(ranges)
  const warning = problem ? null : everywhereWarning(ranges)
  const hasMine = mine !== undefined && ranges.some((range) => range === mine || range.startsWith(`${mine}/`))
  return (
    <div>
      <TagInput
        label="IP allowlist"
        description="IP addresses or CIDR ranges that can use the key. Leave empty to allow any."
        placeholder="203.0.113.7 or 203.0.113.0/24"
        value={ranges}
        onChange={onChange}
        error={problem ?? error}
      />
      {mine !== undefined && !hasMine && (
        <Button kind="quiet" size="s" icon="plus" onClick={() => onChange([...ranges, mine])}>
          Add my IP address ({mine})
        </Button>
      )}
      {warning && <Notice tone="warn">{warning}</Notice>}
    </div>
  )
}
