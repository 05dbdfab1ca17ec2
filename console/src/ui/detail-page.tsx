import type { ReactNode } from 'react'
import { PageBody } from './layout.tsx'
import { PageHeader } from './page-header.tsx'
import { Loaded } from './states.tsx'

export interface Back {
  to: string
  title: string
}

interface DetailPageProps<Data> {
  asked: { data: Data | undefined; error: unknown; refetch(): unknown }
  /** What kind of thing it is about: "Order". */
  title: string
  back: Back
  /** The whole page, once its thing is there. */
  children: (data: Data) => ReactNode
}

/** The page of one thing, which has to be loaded first. */
export function DetailPage<Data>({ asked, title, back, children }: DetailPageProps<Data>) {
  if (asked.data !== undefined) return children(asked.data)
  return (
    <>
      <PageHeader title={title} back={back} />
      <PageBody>
        <Loaded asked={asked} what={`This ${title.toLowerCase()}`}>
          {() => null}
        </Loaded>
      </PageBody>
    </>
  )
}
