/** The field of a template that an `error_subcode` of WhatsApp is about. The others are about the whole template. */
export const templateErrorFields: ReadonlyMap<number, string> = new Map([
  [2388023, 'name'],
  [2388024, 'name'],
  [2388047, 'header.text'],
  [2388072, 'body.text'],
  [2388073, 'footer.text'],
  [2388293, 'body.text'],
  [2388299, 'body.text'],
])
