import type { ReactNode } from 'react'
import { useLeaveGuard } from '../lib/leave-guard.ts'
import type { Form as FormState } from '../lib/use-form.ts'
import styles from './form.module.css'
import { Notice } from './states.tsx'

interface FormProps<Values> {
  form: FormState<Values>
  className?: string | undefined
  /** Prevents submission, even by Enter. */
  disabled?: boolean
  /** The children render the error that belongs to no field. */
  ownError?: boolean
  /** Asks before edits are lost. Off where there is nothing to lose, such as a password to sign in with. */
  guarded?: boolean
  children: ReactNode
}

/** The form element for `useForm`. Errors that belong to no field are shown at the top. */
export function Form<Values>({
  form,
  className,
  disabled = false,
  ownError = false,
  guarded = true,
  children,
}: FormProps<Values>) {
  useLeaveGuard(guarded && form.isChanged, form.mayDiscard)
  return (
    <form
      ref={form.element}
      className={className}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (!disabled) form.submit()
      }}
    >
      {!ownError && <FormError form={form} />}
      {children}
    </form>
  )
}

export function FormError<Values>({ form }: { form: FormState<Values> }) {
  return (
    <div role="alert" className={styles.error}>
      {form.errors.form && <Notice tone="bad">{form.errors.form}</Notice>}
    </div>
  )
}
