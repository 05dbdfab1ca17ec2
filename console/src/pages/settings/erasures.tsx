import type { Erasure } from '@parley/contract/console/erasures'
import { plural } from '../../lib/format.ts'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { useErasures } from './settings.queries.ts'

/** The latest erasures. They do not say who was erased. */
export function Erasures() {
  return (
    <Loaded query={useErasures()} what="The erasures">
      {({ data }) =>
        data.length === 0 ? (
          <p className="quiet">No contact has been erased.</p>
        ) : (
          <ItemList>
            {data.map((erasure) => (
              <Item
                key={erasure.id}
                icon="trash"
                name={<Moment at={erasure.asked_at} />}
                detail={
                  <>
                    <bdi>{erasure.asked_by}</bdi> · {removedText(erasure)}
                    {erasure.waits && (
                      <>
                        . Waits because a message to the contact is not sent yet. It continues by itself when the
                        message is sent or has failed, after 25 hours at most.
                      </>
                    )}
                  </>
                }
              >
                {erasure.ended_at === null && <Chip>{erasure.waits ? 'waiting' : 'in progress'}</Chip>}
              </Item>
            ))}
          </ItemList>
        )
      }
    </Loaded>
  )
}

function removedText({ removed }: Erasure): string {
  const messages = (removed.messages ?? 0) + (removed.inbound_messages ?? 0)
  return [
    plural(messages, 'message'),
    removed.files ? plural(removed.files, 'file') : null,
    removed.events ? plural(removed.events, 'event') : null,
  ]
    .filter(Boolean)
    .join(', ')
}
