import type { PasskeyRow } from '@parley/contract/console/session'
import { formatDay } from '../lib/format.ts'
import { IconButton } from '../ui/button.tsx'
import { Item, ItemList } from '../ui/item-list.tsx'

/** A person's passkeys, on their account page and for operators. */
export const PasskeyList = ({
  passkeys,
  onRemove,
}: {
  passkeys: readonly PasskeyRow[]
  onRemove: (passkey: PasskeyRow) => void
}) => (
  <ItemList>
    {passkeys.map((passkey) => (
      <Item
        key={passkey.id}
        icon="passkey"
        name={<bdi>{passkey.name}</bdi>}
        detail={`Added ${formatDay(passkey.created_at)}`}
      >
        <IconButton icon="trash" label={`Remove ${passkey.name}`} onClick={() => onRemove(passkey)} />
      </Item>
    ))}
  </ItemList>
)
