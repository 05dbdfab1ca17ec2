import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './sign-in.module.css'
import { signInError, useEnterCode } from './sign-in.queries.ts'

export type CodeKind = 'totp' | 'backup'

export function SecondFactorForm({
  kind,
  onKind,
  onStep,
  onBack,
}: {
  kind: CodeKind
  onKind: (kind: CodeKind) => void
  onStep: (next: 'done' | 'second_factor') => void
  onBack: () => void
}) {
  const form = useForm({
    first: { code: '' },
    check: ({ code }) => ({ code: plain(code) ? undefined : 'Enter the code.' }),
    action: useEnterCode(),
    input: ({ code }) => ({ code: plain(code), kind }),
    onDone: ({ next }) => onStep(next),
    explain: (error) => ({
      code: signInError(
        error,
        kind === 'totp' ? 'Wrong or already used code. Wait for the next one.' : 'Wrong or already used backup code.',
      ),
    }),
  })
  return (
    <Form form={form} guarded={false}>
      <TextInput
        key={kind}
        label={kind === 'totp' ? 'Code' : 'Backup code'}
        name="code"
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        autoComplete="one-time-code"
        spellCheck={false}
        autoFocus
        {...form.text('code')}
        classNames={{ input: styles.code ?? '' }}
        onChange={(event) => {
          const code = event.currentTarget.value
          form.set({ code })
          if (kind === 'totp' && /^\d{6}$/.test(plain(code))) form.submit({ code })
        }}
      />
      <Button type="submit" kind="primary" size="l" fullWidth busy={form.isPending}>
        Continue
      </Button>
      <div className={styles.links}>
        <button
          type="button"
          className="link"
          onClick={() => {
            onKind(kind === 'totp' ? 'backup' : 'totp')
            form.reset()
          }}
        >
          {kind === 'totp' ? 'Use a backup code' : 'Use the authenticator app'}
        </button>
        <button type="button" className="link" onClick={onBack}>
          Start over
        </button>
      </div>
    </Form>
  )
}

const plain = (code: string) => code.replace(/\s/g, '')
