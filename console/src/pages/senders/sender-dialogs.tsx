import { type BusinessProfile, businessCategories, type ConsoleSender } from '@parley/contract/console/senders'
import { formatPhone } from '../../lib/phone.ts'
import { useForm } from '../../lib/use-form.ts'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { PasswordInput, Select, Textarea, TextInput } from '../../ui/fields.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useChangeProfile, useProfile, useRegister, useRequestName, useSetPin } from './senders.queries.ts'

interface Props {
  sender: ConsoleSender
  onClose: () => void
}

/** Registers a number, or sets its two-step PIN. */
export function PinDialog({ sender, registers, onClose }: Props & { registers: boolean }) {
  const [register, setPin] = [useRegister(sender.id), useSetPin(sender.id)]
  const form = useForm({
    first: { pin: '' },
    check: ({ pin }) => ({ pin: /^\d{6}$/.test(pin) ? undefined : 'Enter six digits.' }),
    action: registers ? register : setPin,
    input: ({ pin }) => pin,
    onDone: onClose,
  })
  const title = registers ? 'Register number' : 'Set two-step PIN'
  const hint = registers
    ? 'Enter the PIN of the number. If it has none, this becomes its PIN.'
    : 'It replaces the current PIN, even if you have forgotten it.'
  return (
    <FormDialog
      onClose={onClose}
      title={title}
      detail={<NumberOf sender={sender} />}
      size="s"
      form={form}
      submit={title}
    >
      <PasswordInput
        label="Two-step PIN"
        description={`${hint} Write it down: it is not stored here.`}
        inputMode="numeric"
        autoComplete="off"
        maxLength={6}
        data-autofocus
        {...form.text('pin')}
      />
    </FormDialog>
  )
}

export function NameDialog({ sender, onClose }: Props) {
  const form = useForm({
    first: { name: sender.display_name ?? '' },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter a name.' }),
    action: useRequestName(sender.id),
    input: ({ name }) => name,
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Change display name"
      detail={<NumberOf sender={sender} />}
      size="s"
      form={form}
      submit="Request name"
    >
      <TextInput
        label="Display name"
        description="WhatsApp reviews it. Until then, people see the current name."
        maxLength={512}
        data-autofocus
        {...form.text('name')}
      />
    </FormDialog>
  )
}

export function ProfileDialog({ sender, onClose }: Props) {
  const query = useProfile(sender.id)
  if (query.data) return <ProfileForm sender={sender} profile={query.data} onClose={onClose} />
  return (
    <Dialog onClose={onClose} title="Business profile" detail={<NumberOf sender={sender} />}>
      <Loaded query={query} what="The business profile">
        {() => null}
      </Loaded>
    </Dialog>
  )
}

function ProfileForm({ sender, profile, onClose }: Props & { profile: BusinessProfile }) {
  const form = useForm({
    first: { ...profile, category: profile.category || null, websites: profile.websites.join('\n') },
    action: useChangeProfile(sender.id),
    // WhatsApp refuses an empty "about", so what did not change is not sent.
    input: ({ category, websites, ...texts }) => {
      const now = { ...texts, category: category ?? '', websites: websites.split(/\s+/).filter(Boolean) }
      const changed = Object.entries(now).filter(
        ([name, value]) => String(value) !== String(profile[name as keyof BusinessProfile]),
      )
      return Object.fromEntries(changed)
    },
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Business profile"
      detail={<NumberOf sender={sender} />}
      form={form}
      submit="Save profile"
      disabled={!form.isChanged}
    >
      <TextInput label="About" maxLength={139} data-autofocus {...form.text('about')} />
      <Textarea label="Description" maxLength={512} autosize minRows={2} {...form.text('description')} />
      <Select
        label="Category"
        data={Object.entries(businessCategories).map(([value, label]) => ({ value, label }))}
        searchable
        clearable
        {...form.field('category')}
      />
      <TextInput label="Address" maxLength={256} {...form.text('address')} />
      <TextInput label="Email address" type="email" maxLength={128} {...form.text('email')} />
      <Textarea label="Websites" description="At most two, one in each line." autosize {...form.text('websites')} />
    </FormDialog>
  )
}

const NumberOf = ({ sender }: { sender: ConsoleSender }) => (
  <bdi className="numbers">{formatPhone(sender.phone_number)}</bdi>
)
