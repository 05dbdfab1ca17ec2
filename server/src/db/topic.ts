/** The subscribers of a process, by topic. All transactions and all `within` views of a database have the same ones. */
export type Subscribers = Map<string, object>

/**
 * Names a part of the process for code that only has a `Db`, such as the loop that works on what that code stores. The code tells
 * it after the commit. The noun of the part defines the topic, and the part subscribes at start.
 */
export type Topic<Subscriber extends object> = string & { readonly subscriber?: Subscriber }

interface Process {
  readonly subscribers: Subscribers
}

/** Replaces an earlier subscriber. Returns a function that unsubscribes. */
export function subscribe<Subscriber extends object>(
  { subscribers }: Process,
  topic: Topic<Subscriber>,
  subscriber: Subscriber,
): () => void {
  subscribers.set(topic, subscriber)
  return () => {
    if (subscribers.get(topic) === subscriber) subscribers.delete(topic)
  }
}

/** Undefined if no part of this process subscribes. */
export const subscriberOf = <Subscriber extends object>({ subscribers }: Process, topic: Topic<Subscriber>) =>
  subscribers.get(topic) as Subscriber | undefined
