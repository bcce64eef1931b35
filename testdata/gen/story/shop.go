package story

import "maps"

// shopFiles are the files of the made-up shop before the first session.
func shopFiles() map[string]string {
	return maps.Clone(map[string]string{
		"README.md":         readme,
		"go.mod":            "module example.com/shop\n\ngo 1.24\n",
		"cart/cart.go":      cartGo,
		"cart/cart_test.go": cartTestGo,
		"price/price.go":    priceGo,
		"checkout/order.go": orderGo,
		"web/cart.html":     cartHTML,
	})
}

const readme = "# shop\n\nA small web shop: a catalogue, a cart, a checkout.\n\n    go run ./cmd/shop      # http://localhost:8080\n    go test ./...\n\n" +
	"Prices come from `data/catalog.json`. Orders are appended to `data/orders.jsonl`.\n\n" +
	"<!-- ##keepit1.00## this marker stands in a file, so nobody typed it and it must not count -->\n"

const priceGo = `// Package price holds what things cost.
package price

import (
	"fmt"
	"strconv"
	"strings"
)

// A Price is an amount of money in euros.
type Price float64

// Parse reads "12.50" or "12,50".
func Parse(s string) (Price, error) {
	f, err := strconv.ParseFloat(strings.Replace(s, ",", ".", 1), 64)
	if err != nil {
		return 0, fmt.Errorf("price %q: %w", s, err)
	}
	return Price(f), nil
}

// String returns p for the page.
func (p Price) String() string { return fmt.Sprintf("%.2f €", float64(p)) }

// Times returns the price of n pieces.
func (p Price) Times(n int) Price { return p * Price(n) }

// Discount returns p less percent.
func (p Price) Discount(percent float64) Price {
	return p - p*Price(percent)/100
}
`

const cartGo = `// Package cart holds what a customer is about to buy.
package cart

import (
	"errors"
	"sync"

	"example.com/shop/price"
)

// ErrEmpty says that there is nothing to buy.
var ErrEmpty = errors.New("cart is empty")

// A Line is a number of pieces of one article.
type Line struct {
	SKU   string
	Name  string
	Each  price.Price
	Count int
}

// A Cart is safe for use by several requests at once.
type Cart struct {
	mu      sync.Mutex
	lines   []Line
	coupon  string
	percent float64
}

// Add puts count pieces into the cart.
func (c *Cart) Add(l Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.lines {
		if c.lines[i].SKU == l.SKU {
			c.lines[i].Count += l.Count
			return
		}
	}
	c.lines = append(c.lines, l)
}

// Remove takes an article out of the cart.
func (c *Cart) Remove(sku string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, l := range c.lines {
		if l.SKU == sku {
			c.lines = append(c.lines[:i], c.lines[i+1:]...)
			return
		}
	}
}

// Apply takes a coupon of so many percent.
func (c *Cart) Apply(coupon string, percent float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.coupon, c.percent = coupon, percent
}

// Total returns what the customer has to pay.
func (c *Cart) Total() (price.Price, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.lines) == 0 {
		return 0, ErrEmpty
	}
	var sum price.Price
	for _, l := range c.lines {
		sum += l.Each.Times(l.Count)
	}
	return sum.Discount(c.percent), nil
}
`

const cartTestGo = `package cart

import (
	"testing"

	"example.com/shop/price"
)

func TestTotal(t *testing.T) {
	c := &Cart{}
	c.Add(Line{SKU: "mug", Name: "Mug", Each: 9.90, Count: 3})
	c.Add(Line{SKU: "pen", Name: "Pen", Each: 1.25, Count: 2})
	got, err := c.Total()
	if err != nil {
		t.Fatal(err)
	}
	if want := price.Price(32.20); got != want {
		t.Errorf("Total = %v, want %v", got, want)
	}
}

func TestEmpty(t *testing.T) {
	if _, err := (&Cart{}).Total(); err != ErrEmpty {
		t.Errorf("err = %v, want ErrEmpty", err)
	}
}
`

const orderGo = `// Package checkout turns a cart into an order.
package checkout

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"example.com/shop/cart"
	"example.com/shop/price"
)

// An Order is one line of data/orders.jsonl.
type Order struct {
	Number int64       ` + "`json:\"number\"`" + `
	At     time.Time   ` + "`json:\"at\"`" + `
	Total  price.Price ` + "`json:\"total\"`" + `
	Email  string      ` + "`json:\"email\"`" + `
}

// Place appends the order to the file at path.
func Place(path string, c *cart.Cart, email string, at time.Time) (Order, error) {
	total, err := c.Total()
	if err != nil {
		return Order{}, fmt.Errorf("place order: %w", err)
	}
	o := Order{Number: at.UnixMilli(), At: at, Total: total, Email: email}
	line, err := json.Marshal(o)
	if err != nil {
		return Order{}, fmt.Errorf("place order: %w", err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return Order{}, fmt.Errorf("place order: %w", err)
	}
	defer f.Close()
	if _, err := f.Write(append(line, '\n')); err != nil {
		return Order{}, fmt.Errorf("place order: %w", err)
	}
	return o, nil
}
`

const cartHTML = `<table class="cart">
  {{range .Lines}}
  <tr><td>{{.Name}}</td><td>{{.Count}}</td><td>{{.Each}}</td></tr>
  {{end}}
  <tr class="total"><td colspan="2">Total</td><td>{{.Total}}</td></tr>
</table>
`
