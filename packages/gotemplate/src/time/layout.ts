// Splits the layouts of Go's package time into their elements.

export type Element =
  | { readonly is: "literal"; readonly text: string }
  | { readonly is: "fraction"; readonly digits: number; readonly isTrimmed: boolean; readonly separator: string }
  | { readonly is: "element"; readonly name: string };

/** Longest first, so that a prefix does not hide what it begins. */
const ELEMENTS = [
  "January",
  "Jan",
  "Monday",
  "Mon",
  "MST",
  "2006",
  "01",
  "02",
  "03",
  "04",
  "05",
  "06",
  "002",
  "1",
  "2",
  "_2006",
  "_2",
  "__2",
  "15",
  "3",
  "4",
  "5",
  "PM",
  "pm",
  "-070000",
  "-07:00:00",
  "-0700",
  "-07:00",
  "-07",
  "Z070000",
  "Z07:00:00",
  "Z0700",
  "Z07:00",
  "Z07",
].toSorted((a, b) => b.length - a.length);

const FRACTION = /^[.,](0+|9+)(?![0-9])/u;

export const elementsOf = (layout: string): readonly Element[] => {
  const elements: Element[] = [];
  let literal = "";
  const flush = (): void => {
    if (literal !== "") elements.push({ is: "literal", text: literal });
    literal = "";
  };
  for (let at = 0; at < layout.length; ) {
    const rest = layout.slice(at, at + 12);
    const fraction = FRACTION.exec(layout.slice(at));
    const name = ELEMENTS.find((element) => rest.startsWith(element));
    if (fraction !== null) {
      flush();
      const [matched, digits = ""] = fraction;
      elements.push({
        is: "fraction",
        digits: digits.length,
        isTrimmed: digits.startsWith("9"),
        separator: matched.charAt(0),
      });
      at += matched.length;
    } else if (name === "_2006") {
      literal += "_";
      flush();
      elements.push({ is: "element", name: "2006" });
      at += 5;
    } else if (
      name === undefined ||
      (name === "Jan" && /^[a-z]/u.test(layout.slice(at + 3))) ||
      (name === "Mon" && /^[a-z]/u.test(layout.slice(at + 3)))
    ) {
      literal += layout.charAt(at);
      at++;
    } else {
      flush();
      elements.push({ is: "element", name });
      at += name.length;
    }
  }
  flush();
  return elements;
};
