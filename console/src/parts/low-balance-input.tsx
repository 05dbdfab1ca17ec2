import { NumberInput } from '../ui/fields.tsx'

interface LowBalanceInputProps {
  value: number | string
  error: string | undefined
  onChange: (value: number | string) => void
}

/** The balance at which a workspace is warned. */
export const LowBalanceInput = (props: LowBalanceInputProps) => (
  <NumberInput
    label="Warn when the balance is at or below"
    description="Credits; everybody in this workspace then sees a notice on every page. 0 for no warning."
    min={0}
    max={1_000_000_000}
    allowDecimal={false}
    allowNegative={false}
    thousandSeparator=","
    data-autofocus
    {...props}
  />
)

export const lowBalanceError = (value: number | string) =>
  typeof value === 'number' ? undefined : 'Enter a whole number; 0 for no warning.'
