import { type FormEvent, useRef, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { focusFirstFault, TextInput } from '../../ui/fields.tsx'
import styles from './sign-in.module.css'
import { enterCode, refusalWords } from './sign-in.queries.ts'

export function SecondFactorForm({
  onStep,
  onBack,
}: {
  onStep: (next: 'done' | 'second_factor') => void
  onBack: () => void
}) {
  const form = useRef<HTMLFormElement>(null)
  const [kind, setKind] = useState<'totp' | 'backup'>('totp')
  const [code, setCode] = useState('')
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)

  const refuse = (words: string) => {
    setBusy(false)
    setFault(words)
    focusFirstFault(form.current)
  }
  const send = async (text: string) => {
    if (busy) return
    const plain = text.replace(/\s/g, '')
    if (!plain) return refuse('Enter the code.')
    setBusy(true)
    setFault(null)
    try {
      onStep((await enterCode(plain, kind)).next)
    } catch (error) {
      refuse(
        refusalWords(
          error,
          kind === 'totp'
            ? 'That code is not right, or was used before. Wait for the next one.'
            : 'That backup code is not right, or was used before.',
        ),
      )
    }
  }
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        void send(code)
      }}
    >
      <TextInput
        key={kind}
        label={kind === 'totp' ? 'Code' : 'Backup code'}
        name="code"
        inputMode={kind === 'totp' ? 'numeric' : 'text'}
        autoComplete="one-time-code"
        spellCheck={false}
        autoFocus
        value={code}
        error={fault}
        classNames={{ input: styles.code ?? '' }}
        onChange={(event) => {
          const text = event.currentTarget.value
          setCode(text)
          setFault(null)
          if (kind === 'totp' && /^\d{6}$/.test(text.replace(/\s/g, ''))) void send(text)
        }}
      />
      <Button type="submit" kind="primary" size="l" fullWidth busy={busy}>
        Go on
      </Button>
      <div className={styles.links}>
        <button
          type="button"
          className="link"
          onClick={() => {
            setKind(kind === 'totp' ? 'backup' : 'totp')
            setCode('')
            setFault(null)
          }}
        >
          {kind === 'totp' ? 'Use a backup code' : 'Use the authenticator app'}
        </button>
        <button type="button" className="link" onClick={onBack}>
          Start over
        </button>
      </div>
    </form>
  )
}
